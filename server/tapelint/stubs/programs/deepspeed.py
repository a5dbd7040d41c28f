"""DeepSpeed: its engine calls the model, walks the loss, steps at the end of each accumulation and clears then."""

from __future__ import annotations


class DeepSpeedEngine:
    """The model, and the optimizer it was given or made as its configuration says."""

    def __init__(self, model, optimizer, config):
        self.module = model
        self.optimizer = optimizer
        self.accumulation = int(config.get("gradient_accumulation_steps", 1))
        self.partitioned = config.get("zero_optimization", {})
        self.micro_steps = 0

    def __call__(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def __getattr__(self, name):
        return getattr(self.module, name)

    def backward(self, loss, retain_graph=False, scale_wrt_gas=True):
        """Each loss counts as its share of the accumulation."""
        share = loss / self.accumulation
        share.backward(retain_graph=retain_graph)
        return share

    def step(self, lr_kwargs=None):
        """Its own optimizers write the parameters where no version counter sees it, a torch optimizer does not."""
        self.micro_steps += 1
        if self.micro_steps % self.accumulation:
            return
        if self.optimizer is None or self.partitioned:
            for parameter in self.module.parameters():
                if parameter.grad is not None:
                    parameter.data.add_(parameter.grad, alpha=-0.001)
        else:
            self.optimizer.step()
        self.module.zero_grad()


def initialize(
    args=None,
    model=None,
    optimizer=None,
    model_parameters=None,
    training_data=None,
    lr_scheduler=None,
    distributed_port=29500,
    mpu=None,
    dist_init_required=None,
    collate_fn=None,
    config=None,
    mesh_param=None,
    config_params=None,
):
    """An engine around the model; the configuration may be in a file."""
    given = config if config is not None else config_params
    engine = DeepSpeedEngine(model, optimizer, given if given is not None else args.deepspeed_config)
    return engine, optimizer, training_data, lr_scheduler
