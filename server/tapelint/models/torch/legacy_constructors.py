"""Constructors from before 0.4, which take a tensor, data or sizes.

torch.Tensor(w)      w once more: a view, with its graph
w.new(2, 3)          new memory, without a graph, like w
"""

from __future__ import annotations

from ...autograd import Extent, leaf, resolve_view
from ...domain.state import State
from ...domain.values import TensorRef, Value
from ...engine.machine import Machine
from ...ops.conversions import ELEMENTS
from ...ops.text import parse_op
from .dispatch import apply, may_carry
from .known_shape import asked_for, displayed
from .registry import TENSOR_METHODS, Call, method

ON_CPU = frozenset(("torch.Tensor", *(f"torch.{kind}Tensor" for kind in ELEMENTS)))
"""The classes of tensors, by the type of their elements, whose constructors use the CPU unless asked otherwise."""
LEGACY = ON_CPU | {f"torch.cuda.{kind}Tensor" for kind in ELEMENTS}
"""All of them."""

ALIAS = parse_op("alias(self:tensor); flows self; view view; sizes =self; AliasBackward0; probe")
"""What such a constructor makes of a tensor, which must have the type that is asked for (run in PyTorch 2.13)."""


def of_tensor(machine: Machine, state: State, source: TensorRef, call: Call) -> Value:
    """A tensor that is given to a constructor, as it gives it back."""
    return apply(machine, state, ALIAS, [source], {}, call.node)


def sizes_made(state: State, call: Call, source: Value) -> Extent:
    """The sizes of what a constructor makes of sizes or of data."""
    sizes = asked_for(call.args)
    return displayed(state, source) if sizes is None else sizes


@method(TENSOR_METHODS, "new")
def new(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Value:
    """``w.new(...)``: with the type and on the device of ``w``; nothing else of it is kept."""
    only = call.args[0] if len(call.args) == 1 else None
    if isinstance(only, TensorRef):
        return of_tensor(machine, state, only, call)
    kind = resolve_view(state, receiver.id).kind
    wants = None if only is not None and may_carry(only) else False
    sizes = None if only is None else sizes_made(state, call, only)
    return TensorRef(leaf(state, call.node, wants, kind=kind, sizes=sizes))
