"""Calls of installed libraries that are not modelled: their own code is executed, as far as it is short enough.

    from timm.utils import accuracy
    accuracy(output, target)         executed where timm is installed; without it, its result is unknown

A library works: where its code seems to raise an error of Python, that is a fault of ours, and the call is as unknown
as before. What PyTorch raises in it counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..domain.completion import ProgramRaised
from ..domain.mro import is_function, is_module, mro_of
from ..domain.opaque_values import KNOWN
from ..domain.state import State
from ..domain.traversal import tensors_in
from ..domain.values import Class, External, Function, HeapRef, Value
from ..engine.machine import Machine, OutOfFuel
from ..models.torch.autograd.grad_access import reach
from ..models.torch.registry import model_of
from ..modules.installed_names import installed
from ..ops.module_names import is_layer, is_network

OPTIMIZER = External("torch.optim.Optimizer")


def installed_code(machine: Machine, state: State, name: str, given: Iterable[Value]) -> Value | None:
    """The function or class that a library's name stands for, where what it does with ``given`` matters to autograd: a
    function that is given a graph, a network or an optimizer, or the class of one. None where it is modelled, or its
    source is not there.
    """
    if machine.imports is None or not machine.imports.follows_libraries:
        return None
    base = name.rpartition(".")[0]
    if name.partition(".")[0] in KNOWN or name.startswith(".") or model_of(name) is not None:
        return None
    if is_network(name) or is_layer(name) or is_layer(base):
        return None
    found = installed(machine.imports, state, name)
    if isinstance(found, Function) and _matters(machine, state, given):
        return found
    if isinstance(found, HeapRef) and isinstance(state.heap[found.id], Class):
        return found if _is_of_autograd(state, found) else None
    return None


def installed_base(machine: Machine, state: State, base: Value) -> Value:
    """A class that one of the program derives from: that of a library as it is defined there."""
    found = installed_code(machine, state, base.name, ()) if isinstance(base, External) else None
    return base if found is None else found


def _is_of_autograd(state: State, kind: Value) -> bool:
    """Whether objects of a class are networks or optimizers, or it is a function of autograd."""
    return is_module(state, kind) or is_function(state, kind) or OPTIMIZER in mro_of(state, kind)


def _matters(machine: Machine, state: State, given: Iterable[Value]) -> bool:
    """Whether any of these leads to a tensor with a graph, or to a parameter."""
    values = tuple(given)
    held = (state.tensors[each] for value in values for each in tensors_in(state, value))
    return any(tensor.requires_grad for tensor in held) or any(True for _ in reach(machine, state, values))


def followed(machine: Machine, state: State, run: Callable[[], Value]) -> Value | None:
    """What a call of a library's code returns; None where it takes too much or seems to raise, and then nothing has
    happened.
    """
    before, outer, begin = state.fork(), machine.fuel, machine.fuel_used
    machine.fuel = min(outer, begin + machine.limits.library_call_fuel)
    try:
        return run()
    except OutOfFuel:
        if machine.fuel_used > outer:
            raise
    except ProgramRaised as error:
        if error.by_torch:
            raise
    finally:
        machine.fuel = outer
    state.become(before)
    return None
