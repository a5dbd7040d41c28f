"""Writes of an ``autograd.Function`` that autograd was not informed of.

class Clamp(torch.autograd.Function):
    def forward(ctx, x):
        return x.clamp_(min=0)      # without ctx.mark_dirty(x)

y = Clamp.apply(h)
z = h * 2                           # h has new values and its old history: the gradient is wrong
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..events.custom_function import UnmarkedWriteUsed
from ..facts import Facts
from ..model.graph import Tensor
from ..state import AutogradState


def tell_unmarked(facts: Facts, state: AutogradState, used: Sequence[Tensor], node: ast.AST) -> None:
    """Inputs that an ``autograd.Function`` wrote without saying so still have the history of their old values."""
    for tensor in used:
        found = facts.memory.unmarked.get(tensor.version_counter)
        if found is None or tensor.grad_fn is not found.grad_fn or not tensor.requires_grad:
            continue
        write = state.writes.get(tensor.version_counter)
        if write is not None and any(each == found.write for each in write.chain()):
            point = state.point(node)
            facts.events.publish(
                UnmarkedWriteUsed(
                    point=point,
                    function=found.function,
                    tensor=tensor.id,
                    argument=found.argument,
                    write=found.write,
                    applied=found.applied,
                )
            )
