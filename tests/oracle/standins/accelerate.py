"""Accelerate on one device: what it prepares it gives back."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext

import torch


class Accelerator:
    def __init__(self, gradient_accumulation_steps=1, **kwargs):
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self.device = torch.device("cpu")
        self.sync_gradients = True

    def prepare(self, *args):
        return args[0] if len(args) == 1 else args

    def backward(self, loss, **kwargs):
        (loss / self.gradient_accumulation_steps).backward(**kwargs)

    def accumulate(self, *models):
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
