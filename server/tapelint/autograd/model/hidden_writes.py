"""Writes to a tensor with a graph that the graph does not know.

h = cell(x)
h.data.clamp_(-1, 1)     # other values, the same history: with `no_grad`, or through `detach()`, too
out = proj(h)            # the gradient goes through h as if it had not been clamped

Writes of an ``autograd.Function`` that autograd was not informed of.

class Clamp(torch.autograd.Function):
    def forward(ctx, x):
        return x.clamp_(min=0)      # without ctx.mark_dirty(x)

y = Clamp.apply(h)
z = h * 2                           # h has new values and its old history: the gradient is wrong
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...frozen import frozen
from ...ops.traits import traits_of
from ..events.custom_function import UnmarkedWriteUsed
from ..events.graph_walks import HiddenWriteUsed
from ..facts import Facts
from ..state import AutogradState
from .graph import Node, Tensor, Write


@frozen
class HiddenWrite:
    """A write to a tensor that changed the derivative of what is computed from it, and that no node stands for."""

    # The tensor with the graph.
    tensor: int
    # The version counter by which it was counted.
    counter: int
    write: Write


def note_hidden(facts: Facts, state: AutogradState, tensor: Tensor, op: str, needs: bool | None) -> None:
    """``tensor`` was written by ``op``: remember it where the memory belongs to a tensor with a graph and no code has
    saved that, so that no version tells.
    """
    if needs is not False or "bends" not in traits_of(op):
        return
    owner = state.tensors.get(tensor.storage)
    write = state.writes.get(tensor.version_counter)
    if owner is None or write is None or owner.grad_fn is None or not owner.requires_grad:
        return
    if owner.version_counter in facts.memory.saved or not write.certain or not owner.grad_fn.certain:
        return
    facts.memory.hidden_writes[owner.grad_fn] = HiddenWrite(owner.id, tensor.version_counter, write)


def note_use(facts: Facts, state: AutogradState, node: Node, is_view: bool) -> None:
    """``node`` was added to the graph: remember which of its inputs was written so on this path. What a view is given
    to is asked instead of the view.
    """
    for source in node.inputs:
        hidden = facts.memory.hidden_writes.get(source) if isinstance(source, Node) else None
        if hidden is None or not _written(state, hidden):
            continue
        if is_view:
            facts.memory.hidden_writes[node] = hidden
            continue
        facts.memory.hidden_uses[node] = HiddenWriteUsed(
            point=node.created_at,
            tensor=hidden.tensor,
            write=hidden.write,
            because=state.tensors[hidden.tensor].because,
        )


def _written(state: AutogradState, hidden: HiddenWrite) -> bool:
    """Whether a write happened on this path."""
    last = state.writes.get(hidden.counter)
    return last is not None and any(write is hidden.write for write in last.chain())


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
