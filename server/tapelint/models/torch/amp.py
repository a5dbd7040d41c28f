"""``torch.autocast``: inside, most ops save copies of their inputs in another type (``ops.casting``)."""

from __future__ import annotations

from ...domain.state import State
from ...domain.values import FALSE, Autocast, Value
from ...engine.machine import Machine
from .registry import Call, function


@function("torch.autocast", "torch.amp.autocast", "torch.amp.autocast_mode.autocast")
def autocast(machine: Machine, state: State, call: Call) -> Value:
    return Autocast(call.flag(2, "enabled", True) is not False)


@function("torch.cuda.amp.autocast", "torch.cpu.amp.autocast", "torch.cuda.amp.autocast_mode.autocast")
def autocast_of_device(machine: Machine, state: State, call: Call) -> Value:
    return Autocast(call.get(0, "enabled") != FALSE)
