"""What a program's steps train with: the gradients that each step of an optimizer finds.

A cure is safe if the cured program trains with what the right program, or the bad one as far as it came, trains with.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch.optim.optimizer import Optimizer, register_optimizer_step_pre_hook

Gradients = tuple[torch.Tensor | None, ...]
"""What the parameters of an optimizer hold as ``.grad``, in the order of :func:`_ordered`."""
STEPS = 5
"""How many steps of each optimizer are compared."""
TOLERANCE = 1e-4


@dataclass(slots=True)
class Trained:
    """The first steps of each optimizer of a program, by the order in which they step first."""

    steps: dict[int, list[Gradients]] = field(default_factory=dict)

    @property
    def by_optimizer(self) -> list[list[Gradients]]:
        """The steps without what tells the optimizers apart in one process."""
        return [*self.steps.values()]


@contextlib.contextmanager
def watching() -> Iterator[Trained]:
    """The steps that the program inside makes."""
    trained, held = Trained(), list[Optimizer]()
    orders: dict[int, list[torch.Tensor]] = {}

    def noted(optimizer: Optimizer, *_: object) -> None:
        held.append(optimizer)  # so that no other one gets its id
        steps = trained.steps.setdefault(id(optimizer), [])
        if len(steps) < STEPS:
            found = (p.grad for p in orders.setdefault(id(optimizer), _ordered(optimizer)))
            steps.append(tuple(g if g is None else g.detach().clone() for g in found))

    handle = register_optimizer_step_pre_hook(noted)
    try:
        yield trained
    finally:
        handle.remove()


def _ordered(optimizer: Optimizer) -> list[torch.Tensor]:
    """The parameters by their shape and what is in them before the first step: a program may have given them in the
    order of a set, which is another one in each run.
    """
    held = [p for group in optimizer.param_groups for p in group["params"]]
    return sorted(held, key=lambda p: (tuple(p.shape), repr(p.detach().to_dense().tolist())))


def starving(cured: Trained, right: Trained) -> str:
    """Which parameter has no gradient in a step of ``cured``, in which that of ``right`` has one; empty if none."""
    for number, (mine, theirs) in enumerate(zip(cured.by_optimizer, right.by_optimizer)):
        for lap, (here, there) in enumerate(zip(mine, theirs)):
            for index, (grad, wanted) in enumerate(zip(here, there)):
                if wanted is not None and wanted.any() and (grad is None or not grad.any()):
                    return f"parameter {index} of optimizer {number} has no gradient in step {lap + 1}"
    if len(cured.steps) < len(right.steps):
        return "an optimizer does not step"
    return ""


def unlike(cured: Trained, right: Trained, is_right: bool = True) -> str:
    """How the first step of each optimizer of ``right`` finds other gradients in ``cured``; empty if they are the
    same. What has no gradient in a program that is not right may have one.
    """
    for number, theirs in enumerate(right.by_optimizer):
        mine = cured.by_optimizer[number] if number < len(cured.steps) else []
        if not mine or len(mine[0]) != len(theirs[0]):
            return f"optimizer {number} makes no such step"
        meant = [a if b is None and not is_right else b for a, b in zip(mine[0], theirs[0])]
        if (index := _first_unlike(mine[0], meant)) is not None:
            return f"the gradient of parameter {index} of optimizer {number} is another one in the first step"
    return ""


def _first_unlike(mine: Sequence[torch.Tensor | None], theirs: Sequence[torch.Tensor | None]) -> int | None:
    for index, (a, b) in enumerate(zip(mine, theirs)):
        a, b = (torch.zeros(()) if each is None else each.to_dense() for each in (a, b))
        scale = max(a.abs().max().item(), b.abs().max().item(), 1e-6)
        if a.shape == b.shape and (a - b).abs().max().item() > TOLERANCE * scale:
            return index
        if a.shape != b.shape and (a.any() or b.any()):
            return index
    return None
