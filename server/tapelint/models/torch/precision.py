"""Of which tensors it is certain that they are of the default type, single precision.

x = torch.rand(3)                  # it is
y = (x * 2).sum()                  # and so is what is computed from it
with torch.autocast("cpu"):
    h = net(x)                     # unknown
    loss = F.mse_loss(y, x)        # saves x itself, where it would save a longer copy of h

Inside of ``torch.autocast`` most ops save copies of their inputs in another type (``ops.casting``).
"""

from __future__ import annotations

from collections.abc import Mapping

from ...domain.state import State
from ...domain.values import FALSE, NONE, Autocast, Const, External, TensorRef, Value
from ...engine.machine import Machine
from ...ops.conversions import OTHER_FLOATS
from ...ops.schema import Op
from .registry import Call, function


def follow(
    machine: Machine, op: Op, named: Mapping[str, object], given: list[tuple[str, int]], keys: tuple[int, ...]
) -> None:
    """``op`` has made ``keys`` of the tensors ``given``."""
    single, flows, traits = machine.facts.contents.float32, op.flows, op.traits
    if "other-dtype" in traits or len(named) > 1 and _asks_for_other(named):
        return
    if "default-dtype" in traits:
        single.update(keys)
    elif (flows or op.view) and not (machine.facts.running.casting and "may-shorten" in traits):
        sources = [key for name, key in given if name in flows or not flows]
        if sources and single.issuperset(sources):
            single.update(keys if op.outputs < 0 else keys[:1])  # the others may be indices


def _asks_for_other(named: Mapping[str, object]) -> bool:
    """Whether a call asks for another dtype or layout, or has a complex number."""
    if named.get("dtype", NONE) != NONE or named.get("layout", NONE) != NONE:
        return True
    return any(isinstance(value, Const) and type(value.value) is complex for value in named.values())


def changes(machine: Machine, tensor: int, name: str, wanted: list[Value]) -> bool:
    """Whether the conversion ``name`` makes a copy for certain: of the default type, and another one is wanted."""
    return machine.facts.is_single(tensor) and _asks(name, wanted)


def convert(machine: Machine, name: str, wanted: list[Value], tensor: int | None = None) -> None:
    """A tensor, or a module, is converted. What has another type since may still be the same thing in our model."""
    if name in ("type", "type_as", "_apply") or _asks(name, wanted):
        if tensor is None:
            machine.facts.contents.default_dtype_changed.add(name)
        else:
            machine.facts.contents.float32.discard(tensor)


def note_replacement(machine: Machine, tensor: int, value: Value) -> None:
    """``tensor.data = value``: since then it is of the type of that."""
    if not isinstance(value, TensorRef) or value.id not in machine.facts.contents.float32:
        machine.facts.contents.float32.discard(tensor)


def _asks(name: str, wanted: list[Value]) -> bool:
    """Whether another type than the default one is asked for."""
    names = {value.name.rpartition(".")[2] for value in wanted if isinstance(value, External)}
    return name in OTHER_FLOATS or not names.isdisjoint(OTHER_FLOATS)


@function("torch.autocast", "torch.amp.autocast", "torch.amp.autocast_mode.autocast")
def autocast(machine: Machine, state: State, call: Call) -> Value:
    return Autocast(call.flag(2, "enabled", True) is not False)


@function("torch.cuda.amp.autocast", "torch.cpu.amp.autocast", "torch.cuda.amp.autocast_mode.autocast")
def autocast_of_device(machine: Machine, state: State, call: Call) -> Value:
    return Autocast(call.get(0, "enabled") != FALSE)
