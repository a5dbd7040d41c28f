"""``requires_grad`` of tensors that are there: what changes it, and the one place where it is changed.

w.requires_grad_(False)     the program sets it: ``set_by_program`` says so, and when (``RequiresGradSet``)
y.add_(w)                   an op gives a tensor another history, and with it the flag: ``give_history``
lib.perturb(y)              it is not known any more: ``doubt``
x.reshape(-1).add_(w)       x is perhaps the same memory: ``doubt_maybe_viewed``
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from ..events.training_step import RequiresGradSet
from ..facts import Facts
from ..state import AutogradState
from .graph import Node, Tensor


def give_history(
    state: AutogradState,
    tensor: Tensor,
    grad_fn: Node | None,
    requires_grad: bool | None,
    view_version: int | None = None,
) -> None:
    """A tensor has another history from now on, and requires grad or not. ``view_version`` is the version of the
    counter for which that is valid, where it is a view.
    """
    seen = tensor.view_version if view_version is None else view_version
    state.tensors[tensor.id] = replace(tensor, grad_fn=grad_fn, requires_grad=requires_grad, view_version=seen)


def doubt(state: AutogradState, keys: Iterable[int]) -> None:
    """Tensors that did not require grad may do so now, for all that is known."""
    for key in keys:
        tensor = state.tensors[key]
        if tensor.requires_grad is False:
            state.changes += 1
            give_history(state, tensor, tensor.grad_fn, None)


def set_by_program(facts: Facts, state: AutogradState, tensor: Tensor, wanted: bool | None, node: ast.AST) -> None:
    """The program says at ``node`` whether a leaf requires grad, which may not be known."""
    state.changes += 1
    if wanted is not tensor.requires_grad:
        point = state.point(node)
        if wanted is False and tensor.requires_grad:
            facts.training.frozen_at[tensor.id] = point
        elif wanted and tensor.id in facts.training.frozen_at:
            facts.training.unfrozen_at[tensor.id] = point
        event = RequiresGradSet(
            point=point, because=tensor.because, tensor=tensor.id, before=tensor.requires_grad, wanted=wanted
        )
        facts.events.publish(event)
    give_history(state, tensor, tensor.grad_fn if tensor.requires_grad else None, wanted)


def doubt_maybe_viewed(facts: Facts, state: AutogradState, written: Tensor) -> None:
    """``flat = x.reshape(-1)``: a write gave one of the two a graph, and the other is perhaps the same memory."""
    whole = written.id if written.base is None else written.base
    for pair in facts.memory.maybe_viewed.items():
        if whole in pair:
            doubt(state, [key for key in pair if key != whole and key in state.tensors])


def doubt_maybe_same(facts: Facts, state: AutogradState, changed: int) -> None:
    """``y = x.to(device)``: one of the two now requires grad, and the other is perhaps the same tensor."""
    reached, found = {changed}, [changed] if facts.memory.maybe_same else []
    for key in found:  # grows
        found += {each for pair in facts.memory.maybe_same.items() if key in pair for each in pair} - reached
        reached.update(found)
    doubt(state, [key for key in reached - {changed} if key in state.tensors])
