"""Ops of the program's own: autograd sees the op, and the backward that is registered for it, not what its body does.

@torch.library.custom_op("mine::scale", mutates_args=())
def scale(x: torch.Tensor) -> torch.Tensor: ...
scale.register_autograd(backward, setup_context=...)        so `scale(x)` has a graph, whatever the body makes
"""

from __future__ import annotations

from ...domain.state import State
from ...domain.values import NONE, External, Unknown, Value
from ...engine.machine import Machine
from .registry import CUSTOM, Call, function


@function("torch.library.custom_op", "torch.library.triton_op")
def custom_op(machine: Machine, state: State, call: Call) -> Value:
    """A decorator, or, where the function is given, the op."""
    return External(CUSTOM) if call.get(1, "fn") == NONE else Unknown("op")
