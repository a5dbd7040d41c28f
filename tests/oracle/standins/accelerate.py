"""Accelerate on one device: it gives back what it prepares, but optimizers wait until gradients are synchronised."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext

import torch


class AcceleratedOptimizer(torch.optim.Optimizer):
    """It does nothing while gradients are accumulated."""

    def __init__(self, optimizer, accelerator):
        self.optimizer = optimizer
        self.accelerator = accelerator

    @property
    def param_groups(self):
        return self.optimizer.param_groups

    def step(self, closure=None):
        if self.accelerator.sync_gradients:
            self.optimizer.step(closure)

    def zero_grad(self, set_to_none=True):
        if self.accelerator.sync_gradients:
            self.optimizer.zero_grad(set_to_none)


class Accelerator:
    def __init__(self, gradient_accumulation_steps=1, **kwargs):
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self.device = torch.device("cpu")
        self.sync_gradients = True
        self.batches = 0

    def prepare(self, *args):
        made = tuple(AcceleratedOptimizer(e, self) if isinstance(e, torch.optim.Optimizer) else e for e in args)
        return made[0] if len(made) == 1 else made

    def prepare_model(self, model):
        return model

    def backward(self, loss, **kwargs):
        (loss / self.gradient_accumulation_steps).backward(**kwargs)

    def accumulate(self, *models):
        self.batches += 1
        self.sync_gradients = self.batches % self.gradient_accumulation_steps == 0
        return nullcontext()

    def autocast(self):
        return nullcontext()

    @contextmanager
    def no_sync(self, model):
        yield

    def clip_grad_norm_(self, parameters, max_norm, norm_type=2):
        return torch.nn.utils.clip_grad_norm_(parameters, max_norm, norm_type)

    def unwrap_model(self, model):
        return model

    def gather(self, tensor):
        return tensor

    def print(self, *args):
        print(*args)
