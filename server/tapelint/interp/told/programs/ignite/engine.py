"""The engine of PyTorch Ignite: one function, called for each batch; and the function of supervised training."""

from __future__ import annotations


class State:
    """What a run has come to."""

    def __init__(self):
        self.epoch = 0
        self.iteration = 0
        self.batch = None
        self.output = None


class Engine:
    """Calls ``process_function(engine, batch)`` for each batch of each epoch."""

    def __init__(self, process_function):
        self._process_function = process_function
        self.state = State()

    def on(self, event_name, *args, **kwargs):
        return lambda handler: handler

    def add_event_handler(self, event_name, handler, *args, **kwargs):
        return None

    def run(self, data=None, max_epochs=1, max_iters=None, epoch_length=None):
        for _ in range(max_epochs):
            self.state.epoch += 1
            for batch in data:
                self.state.iteration += 1
                self.state.batch = batch
                self.state.output = self._process_function(self, batch)
        return self.state


def _prepare_batch(batch, device=None, non_blocking=False):
    x, y = batch
    return x, y


def _number(x, y, y_pred, loss):
    return loss.item()


def _itself(output):
    return output


def _called(model, x):
    return model(x)


def supervised_training_step(
    model,
    optimizer,
    loss_fn,
    device=None,
    non_blocking=False,
    prepare_batch=_prepare_batch,
    model_transform=_itself,
    output_transform=_number,
    gradient_accumulation_steps=1,
    model_fn=_called,
):
    """The update of one batch."""

    def update(engine, batch):
        if (engine.state.iteration - 1) % gradient_accumulation_steps == 0:
            optimizer.zero_grad()
        model.train()
        x, y = prepare_batch(batch, device=device, non_blocking=non_blocking)
        y_pred = model_transform(model_fn(model, x))
        loss = loss_fn(y_pred, y)
        if gradient_accumulation_steps > 1:
            loss = loss / gradient_accumulation_steps
        loss.backward()
        if engine.state.iteration % gradient_accumulation_steps == 0:
            optimizer.step()
        return output_transform(x, y, y_pred, loss * gradient_accumulation_steps)

    return update


def create_supervised_trainer(
    model,
    optimizer,
    loss_fn,
    device=None,
    non_blocking=False,
    prepare_batch=_prepare_batch,
    model_transform=_itself,
    output_transform=_number,
    deterministic=False,
    amp_mode=None,
    scaler=False,
    gradient_accumulation_steps=1,
    model_fn=_called,
):
    """An engine that trains."""
    return Engine(
        supervised_training_step(
            model,
            optimizer,
            loss_fn,
            device,
            non_blocking,
            prepare_batch,
            model_transform,
            output_transform,
            gradient_accumulation_steps,
            model_fn,
        )
    )
