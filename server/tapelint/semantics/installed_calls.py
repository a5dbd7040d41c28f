"""Calls of installed libraries that are not modelled: their own code is executed, as far as it is short enough.

    from timm.utils import accuracy
    accuracy(output, target)         executed where timm is installed; without it, its result is unknown

A library works: where its code seems to raise an error of Python, that is a fault of ours, and the call is as unknown
as before. What PyTorch raises in it counts.

What a dotted name of an installed library is, where its source is there.

    from timm.utils import accuracy      External("timm.utils.accuracy") for all that asks which function it is
    accuracy(output, target)             no model of it: the function that timm/utils/metrics.py defines is executed

A module of a library is executed like one of the workspace, but never before something of it is called or derived from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..bounds import BOUNDS
from ..domain.completion import ProgramRaised
from ..domain.mro import is_function, is_module, lookup_in_mro, mro_of
from ..domain.opaque_values import KNOWN
from ..domain.state import State
from ..domain.traversal import tensors_in
from ..domain.values import Class, External, Function, HeapRef, Unknown, Value
from ..engine.machine import Machine, OutOfFuel
from ..engine.module_system import ModuleSystem
from ..models.torch.autograd.grad_access import reach
from ..models.torch.registry import model_of
from ..ops.module_names import is_layer, is_network
from ..stubs import INSTALLED

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


def installed(imports: ModuleSystem, state: State, name: str) -> Value | None:
    """The function or class with a dotted name, as its library defines it; None where its source is not there or
    not to be followed, or is more than the budget of imported text.
    """
    for _ in range(BOUNDS.installed_names):
        value = _defined(imports, state, name)
        if not isinstance(value, External):
            return value
        name = value.name
    return None


def _defined(imports: ModuleSystem, state: State, name: str) -> Value | None:
    parts, importer = name.split("."), imports.main.path
    for count in range(len(parts) - 1, 0, -1):
        module, wanted = INSTALLED + ".".join(parts[:count]), parts[count]
        if imports.lookups.meaning(module, importer) is None:
            continue
        value = _member(imports, state, module, wanted)
        if value is None or isinstance(value, Unknown):  # an export that the package computes, or a large package
            value = _member(imports, state, f"{module}:{wanted}", wanted)
        for attribute in parts[count + 1 :]:
            value = _of_class(state, value, attribute)
        return value
    return None


def _member(imports: ModuleSystem, state: State, module: str, name: str) -> Value | None:
    """What a module of a library has under a name."""
    found = imports.find(module, imports.main.path)
    loaded = imports.load(state, *found) if found is not None else None
    if loaded is None or not imports.graft(state, loaded):
        return None
    return imports.attribute(state, loaded, name)


def _of_class(state: State, owner: Value | None, attribute: str) -> Value | None:
    """What a class has under a name."""
    if not isinstance(owner, HeapRef) or not isinstance(state.heap[owner.id], Class):
        return None
    found = lookup_in_mro(state, owner, attribute)
    return found[1] if found is not None else None
