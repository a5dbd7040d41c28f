"""Lightning's loop: what it calls around ``training_step``, in the order in which its own source does."""

from __future__ import annotations

import torch


class LightningModule(torch.nn.Module):
    automatic_optimization = True

    def optimizers(self):
        made = self.trainer.optimizers
        return made[0] if len(made) == 1 else made

    def manual_backward(self, loss, *args, **kwargs):
        loss.backward(*args, **kwargs)

    def toggle_optimizer(self, optimizer):
        own = {p for group in optimizer.param_groups for p in group["params"]}
        held = (p for each in self.trainer.optimizers for group in each.param_groups for p in group["params"])
        self._off = [p for p in held if p not in own and p.requires_grad]
        for parameter in self._off:
            parameter.requires_grad_(False)

    def untoggle_optimizer(self, optimizer):
        for parameter in self._off:
            parameter.requires_grad_(True)

    def freeze(self):
        self.requires_grad_(False).eval()

    def unfreeze(self):
        self.requires_grad_(True).train()

    def log(self, name, value, **kwargs):
        float(value)

    def on_train_epoch_start(self):
        """A hook."""

    def on_validation_epoch_end(self):
        """A hook."""

    def on_train_batch_start(self, batch, batch_idx):
        """A hook."""

    def on_train_batch_end(self, outputs, batch, batch_idx):
        """A hook."""


class Trainer:
    def __init__(self, max_epochs=1):
        self.max_epochs = max_epochs

    def fit(self, module, loader, validation=()):
        module.trainer = self
        self.optimizers = list(_flat(module.configure_optimizers()))
        for _ in range(self.max_epochs):
            module.on_train_epoch_start()
            for index, batch in enumerate(loader):
                module.on_train_batch_start(batch, index)
                outputs = self._batch(module, batch, index)
                module.on_train_batch_end(outputs, batch, index)
            with torch.no_grad():
                for index, batch in enumerate(validation):
                    module.validation_step(batch, index)
                if validation:
                    module.on_validation_epoch_end()

    def _batch(self, module, batch, index):
        if not module.automatic_optimization:
            return module.training_step(batch, index)
        outputs = None

        def closure():
            nonlocal outputs
            outputs = module.training_step(batch, index)
            loss = outputs["loss"] if isinstance(outputs, dict) else outputs
            self.optimizers[0].zero_grad()
            loss.backward()
            return loss

        self.optimizers[0].step(closure)
        return outputs


def _flat(made):
    if isinstance(made, torch.optim.Optimizer):
        yield made
    elif isinstance(made, dict):
        yield made["optimizer"]
    elif isinstance(made, (list, tuple)):
        for each in made:
            yield from _flat(each)
