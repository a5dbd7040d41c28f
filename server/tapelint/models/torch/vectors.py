"""``parameters_to_vector`` and back."""

from __future__ import annotations

from ...domain.state import State
from ...domain.values import NONE, Const, HeapRef, Sequence, Unknown, Value
from ...engine.machine import Machine
from .dispatch import run
from .registry import Call, function

MAX_PARTS = 64
"""Parameters of a vector, where it is not known how many there are: their views are executed one by one."""


@function("torch.nn.utils.parameters_to_vector", "torch.nn.utils.convert_parameters.parameters_to_vector")
def parameters_to_vector(machine: Machine, state: State, call: Call) -> Value:
    """A concatenation of views with one dimension: its graph saves nothing."""
    found = machine.iterate(state, call.get(0, "parameters"), call.node, MAX_PARTS)
    flat = [run(machine, state, "view", [part, Const(-1)], {}, call.node) or Unknown("view") for part in found.values]
    parts = HeapRef(state.new(Sequence("list", flat, not found.exact)))
    return run(machine, state, "cat", [parts], {}, call.node) or Unknown("vector")


@function("torch.nn.utils.vector_to_parameters", "torch.nn.utils.convert_parameters.vector_to_parameters")
def vector_to_parameters(machine: Machine, state: State, call: Call) -> Value:
    """Gives each parameter new data: no version is counted, and what was saved keeps the old."""
    return NONE
