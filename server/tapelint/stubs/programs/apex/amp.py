"""The mixed precision of Apex, before torch had its own: the loss is scaled, the gradients are divided afterwards."""

from __future__ import annotations

from contextlib import contextmanager


def initialize(models, optimizers=None, *args, **kwargs):
    """Patches what it is given, and gives it back."""
    return models if optimizers is None else (models, optimizers)


@contextmanager
def scale_loss(loss, optimizers, loss_id=0, model=None, delay_unscale=False, delay_overflow_check=False):
    """The block is given the scaled loss to walk."""
    yield loss.float() * 65536.0
    if not delay_unscale:
        for optimizer in optimizers if isinstance(optimizers, (list, tuple)) else [optimizers]:
            for parameter in master_params(optimizer):
                if parameter.grad is not None:
                    parameter.grad.data.mul_(1 / 65536.0)


def master_params(optimizer):
    """What the optimizer steps."""
    for group in optimizer.param_groups:
        yield from group["params"]
