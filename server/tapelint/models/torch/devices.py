"""Which tensors are on the CPU for certain: those that are made there, and what is computed of them alone; and which
are where they are asked to be.

x = torch.rand(3)            x.is_cuda is False, x.device.type is "cpu"
y = x.to(device)             unknown
z = torch.rand(3, device=d)  unknown
net(x)                       unknown: a network is moved in place
z.to(d)                      z itself
x.device == "cpu"            False: a device equals no text
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ...because import Because, guess
from ...domain.values import NONE, Const, Origin, TensorRef, Unknown, Value
from ...engine.machine import Machine
from ...ops.conversions import TO_DTYPE
from ...source import written
from .dtypes import of_dtype

OF_CPU: Mapping[str, Const] = {"type": Const("cpu"), "index": NONE}
"""What is asked of the device ``cpu``."""
KEEPING = TO_DTYPE.keys() | {"cpu", "contiguous"}
"""Conversions that leave a tensor of the CPU there."""


def copies(conversion: ast.AST) -> Because:
    """The guess that a conversion, which may give the tensor itself, makes a copy."""
    return guess(f"`{written(conversion)}` makes a copy, as for another device")


def note_new(machine: Machine, tensor: int, device: object = None) -> None:
    """A tensor was made of plain data, on ``device``, if one was asked for."""
    if device in (None, NONE) and not machine.facts.contents.default_device_changed:
        machine.facts.contents.on_cpu.add(tensor)


def follow(machine: Machine, named: Mapping[str, object], given: list[int], keys: tuple[int, ...]) -> None:
    """An op has made ``keys`` of the tensors ``given``."""
    device = named.get("device")
    is_asked = device is not None and device != NONE
    if not given:
        for key in keys:
            note_new(machine, key, device)
    elif not is_asked and machine.facts.contents.on_cpu.issuperset(given):
        machine.facts.contents.on_cpu.update(keys)
    if is_asked and isinstance(device, (Const, Unknown)):
        machine.facts.contents.device_asked.update(dict.fromkeys(keys, device))


def is_there(machine: Machine, tensor: int, name: str, asked: list[Value]) -> bool:
    """Whether a conversion by ``to`` asks for the device that the tensor is on for certain: it gives the tensor."""
    return (
        name == "to" and len(asked) == 1 and machine.facts.contents.device_asked.get(tensor, NONE) == asked[0] != NONE
    )


def note_conversion(machine: Machine, source: int, result: Value, name: str, asked: list[Value]) -> None:
    """A conversion of a tensor gave ``result``: it may have been moved, unless only a dtype is asked for."""
    on_cpu, key = machine.facts.contents.on_cpu, result.id if isinstance(result, TensorRef) else source
    if name == "cpu":
        machine.facts.contents.device_asked.pop(key, None)
    if name not in KEEPING and not (name == "to" and all(of_dtype(each) is not None for each in asked)):
        on_cpu.discard(key)
        machine.facts.contents.device_asked.pop(key, None)
        if name == "to" and len(asked) == 1 and isinstance(asked[0], (Const, Unknown)):
            machine.facts.contents.device_asked[key] = asked[0]
        elif name == "cuda" and not asked:
            machine.facts.contents.device_asked[key] = Const("cuda")
    elif source in on_cpu:
        on_cpu.add(key)


def may_have_moved(machine: Machine, result: int) -> bool:
    """Whether a conversion that gave ``result`` has asked for a device that may be another than the CPU: by ``to``, it
    is known which one.
    """
    asked = machine.facts.contents.device_asked.get(result)
    on_cpu = (Const("cpu"), machine.fact("torch.device", about=(Const("cpu"),)))
    return asked is not None and asked not in on_cpu


def forget_device(machine: Machine, tensor: int) -> None:
    """``x.data = y``: it may be anywhere now."""
    machine.facts.contents.on_cpu.discard(tensor)
    machine.facts.contents.device_asked.pop(tensor, None)


def device_of(machine: Machine, tensor: int) -> Value:
    """``x.device``."""
    return machine.fact("device", Origin.CPU if tensor in machine.facts.contents.on_cpu else Origin.DEVICE)


def asked_of_device(value: Unknown, name: str) -> Const | None:
    """``device.type``, ``device.index``, where it is known."""
    return OF_CPU.get(name) if value.origin is Origin.CPU else None


def is_device(value: object) -> bool:
    """Whether a value is the device of a tensor, which no text equals."""
    return isinstance(value, Unknown) and value.origin in (Origin.CPU, Origin.DEVICE)


def are_devices(left: object, right: object) -> bool:
    """Whether two values are devices of tensors: a program that runs has the tensors that it compares on one."""
    return all(isinstance(each, Unknown) and each.note == "device" for each in (left, right))
