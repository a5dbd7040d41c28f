"""Which tensors are on the CPU for certain: those that are made there, and what is computed of them alone.

x = torch.rand(3)            x.is_cuda is False, x.device.type is "cpu"
y = x.to(device)             unknown
z = torch.rand(3, device=d)  unknown
net(x)                       unknown: a network is moved in place
"""

from __future__ import annotations

from collections.abc import Mapping

from ...domain.values import NONE, Const, Origin, TensorRef, Unknown, Value
from ...engine.machine import Machine
from .dtypes import of_dtype

OF_CPU: Mapping[str, Const] = {"type": Const("cpu"), "index": NONE}
"""What is asked of the device ``cpu``."""
KEEPING = frozenset("cpu float double half bfloat16 contiguous int long bool short byte".split())
"""Conversions that leave a tensor of the CPU there."""


def made(machine: Machine, tensor: int, device: object) -> None:
    """A tensor was made of plain data, on ``device``."""
    if device == NONE and not machine.facts.default_device_changed:
        machine.facts.on_cpu.add(tensor)


def follow(machine: Machine, named: Mapping[str, object], given: list[int], keys: tuple[int, ...]) -> None:
    """An op has made ``keys`` of the tensors ``given``."""
    if not given:
        for key in keys:
            made(machine, key, named.get("device", NONE))
    elif named.get("device", NONE) == NONE and machine.facts.on_cpu.issuperset(given):
        machine.facts.on_cpu.update(keys)


def converted(machine: Machine, source: int, result: Value, name: str, asked: list[Value]) -> None:
    """A conversion of a tensor gave ``result``: it may have been moved, unless only a dtype is asked for."""
    on_cpu, key = machine.facts.on_cpu, result.id if isinstance(result, TensorRef) else source
    if name not in KEEPING and not (name == "to" and all(of_dtype(each) is not None for each in asked)):
        on_cpu.discard(key)
    elif source in on_cpu:
        on_cpu.add(key)


def device_of(machine: Machine, tensor: int) -> Value:
    """``x.device``."""
    return machine.fact("device", Origin.CPU if tensor in machine.facts.on_cpu else Origin.ANY)


def asked_of_device(value: Unknown, name: str) -> Const | None:
    """``device.type``, ``device.index``, where it is known."""
    return OF_CPU.get(name) if value.origin is Origin.CPU else None


def are_devices(left: object, right: object) -> bool:
    """Whether two values are devices of tensors: a program that runs has the tensors that it compares on one."""
    return all(isinstance(each, Unknown) and each.note == "device" for each in (left, right))
