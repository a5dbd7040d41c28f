"""What a program asks of names and objects as it runs: ``hasattr``, ``getattr`` and ``setattr``, attributes by a name
that is a value; ``importlib.import_module``; ``inspect.signature``.

if not hasattr(self, "_optimizers"):        # False for a Module that has been given none
    self._optimizers = self.configure_optimizers()

importlib.import_module("models.resnet")          as ``import models.resnet``, but the value is that module
importlib.import_module(".resnet", "models")      the same
importlib.import_module("." + name, __package__)  below the folder of the file that asks

"mask" in inspect.signature(net.forward).parameters     decided by the ``def`` of ``forward``
len(inspect.signature(load()).parameters)               unknown
"""

from __future__ import annotations

import ast
import re

from ...domain import facets
from ...domain.mro import is_module
from ...domain.options import Option, is_hashable, settled
from ...domain.state import State
from ...domain.values import (
    FALSE,
    NONE,
    BoundMethod,
    Class,
    Const,
    External,
    Function,
    HeapRef,
    Instance,
    Mapping,
    Module,
    TensorRef,
    Unknown,
    Value,
    something,
)
from ...engine.machine import Machine
from ...engine.open_objects import made, open_up
from ...engine.paths.picks import item_picked
from ...ops import layer_names
from ...ops.module_names import some_of
from ...source import written
from ..torch.nn import module_registry
from ..torch.nn.module_registry import is_module_like
from ..torch.registry import MODULE_METHODS, Call, function, method
from .classes.attribute_questions import has


@function("builtins.hasattr")
def has_attribute(machine: Machine, state: State, call: Call) -> Value:
    value, name = call.get(0, "obj"), settled(call.get(1, "name"))
    known = has(machine, state, value, name.value) if isinstance(name, Const) and isinstance(name.value, str) else None
    return Unknown("hasattr", False) if known is None else Const(known)


@function("builtins.getattr")
def get_attribute(machine: Machine, state: State, call: Call) -> Value:
    value, name = call.get(0, "obj"), settled(call.get(1, "name"))
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return _layer_called(value, name) or _picked(machine, state, value, call)
    if len(call.args) < 3:
        return machine.load_attribute(state, value, name.value, call.node)
    default = call.args[2]
    if has_attribute(machine, state, call) == FALSE:
        return default
    found = machine.load_attribute(state, value, name.value, call.node)
    if is_module_like(state, value):
        return found  # what a layer has of its kind is no option
    is_unknown = isinstance(found, Unknown) and found.formula is None or machine.is_opaque(state, found)
    if is_unknown and isinstance(default, Const) and is_hashable(default):
        premise = f"`{written(call.node)}` is not `{default.value!r}`"
        return Unknown(name.value, formula=Option(default, premise))
    return found


def _layer_called(owner: Value, name: Value) -> External | None:
    """``getattr(nn, f"Conv{d}d")``: one of the layers of that name, which differ in their number of dimensions."""
    formula = name.formula if isinstance(name, Unknown) else None
    if owner != External("torch.nn") or not isinstance(formula, tuple) or formula[0] != "Text":
        return None
    parts = (re.escape(str(each.value)) if isinstance(each, Const) else r"\d" for each in formula[1:])
    found = sorted(filter(re.compile("".join(parts)).fullmatch, layer_names()))
    return External(f"torch.nn.{found[0]}") if found else None


def _picked(machine: Machine, state: State, value: Value, call: Call) -> Value:
    """``getattr(thing, name)``, whatever the name is."""
    if len(call.args) == 2 and isinstance(value, Module):
        return _class_of_module(machine, state, value, call.node)
    picked = some_of(value.name) if len(call.args) == 2 and isinstance(value, External) else None
    return External(picked) if picked is not None else Unknown("getattr")


def _class_of_module(machine: Machine, state: State, owner: Module, node: ast.AST) -> Value:
    """``getattr(nets, name)`` of a file of the program: one of its networks, if it defines nothing else."""
    classes = machine.imports.own_classes(state, owner) if machine.imports is not None else None
    if not classes or not all(is_module(state, each) for each in classes.values()):
        return Unknown("getattr")
    return item_picked(machine, state, classes, False, node)


@function("builtins.setattr")
def set_attribute(machine: Machine, state: State, call: Call) -> Value:
    value, name = call.get(0, "obj"), call.get(1, "name")
    if not isinstance(call.node, ast.Call) or not all(isinstance(each, ast.Constant) for each in call.node.args[1:2]):
        open_up(machine, [value])  # a loop may set more of them than it is followed for
    if isinstance(name, Const) and isinstance(name.value, str):
        machine.store_attribute(state, value, name.value, call.get(2, "value"), call.node)
        if isinstance(value, HeapRef) and isinstance(call.node, ast.Call) and len(call.node.args) == 3:
            machine.facts.origins.attribute_stores[value.id, name.value] = call.node, call.node.args[2]
    elif isinstance(value, HeapRef) and isinstance(state.heap[value.id], Instance):
        state.edit(value.id, Instance).is_partial = True
    elif isinstance(value, HeapRef) and isinstance(state.heap[value.id], Class):
        open_up(machine, [value])
    return NONE


@function("builtins.object.__setattr__")
def put(machine: Machine, state: State, call: Call) -> Value:
    """What every object does, where a class of the program, or a module, has a ``__setattr__`` of its own."""
    receiver, name, value = call.get(0, "self"), call.get(1, "name"), call.get(2, "value")
    if isinstance(receiver, HeapRef):
        is_held = isinstance(value, TensorRef) or is_module_like(state, value)
        if is_held and isinstance(name, Const) and isinstance(state.heap[receiver.id], Instance):
            module_registry.note(state.edit(receiver.id, Instance), facets.UNREGISTERED_NAMES, str(name.value))
        return place(machine, state, receiver, Call(call.name, call.args[1:], call.kwargs, call.node))
    open_up(machine, [receiver])
    return NONE


@method(MODULE_METHODS, "__setattr__")
def place(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    name = call.get(0, "name")
    open_up(machine, [receiver])
    if isinstance(state.heap[receiver.id], Instance):
        if not isinstance(name, Const):
            state.edit(receiver.id, Instance).is_partial = True
        elif name.value in module_registry.KINDS and module_registry.is_module_like(state, receiver):
            module_registry.replace_entries(state, receiver, name.value, call.get(1, "value"))
        else:
            state.edit(receiver.id, Instance).attributes[str(name.value)] = call.get(1, "value")
    return NONE


@function("importlib.import_module")
def import_module(machine: Machine, state: State, call: Call) -> Value:
    name, package = call.get(0, "name"), call.get(1, "package")
    if not isinstance(name, Const) or not isinstance(name.value, str) or not name.value.strip("."):
        return machine.call_unknown(state, call.args, call.kwargs, call.node, External(call.name))
    tries = [name.value]
    if name.value.startswith(".") and isinstance(package, Const) and isinstance(package.value, str):
        tries.insert(0, _absolute(name.value, package.value))
    if machine.imports is not None:
        importer = machine.imports.here(state).path
        for each in tries:
            found = machine.imports.module(state, each, importer)
            if found is not None:
                return found
    return External(tries[0])


def _absolute(name: str, package: str) -> str:
    """``..b`` as ``a.c`` means it: ``a.b``."""
    below = name.lstrip(".")
    parts = package.split(".")
    return ".".join([*parts[: len(parts) + 1 - (len(name) - len(below))], below])


@function("inspect.signature")
def signature(machine: Machine, state: State, call: Call) -> Value:
    names = _parameters(call.get(0, "obj"))
    if names is None:
        return machine.call_unknown(state, call.args, call.kwargs, call.node, External(call.name))
    parameters = HeapRef(state.new(Mapping({name: something(name) for name in names})))
    made(machine, state, parameters.id)
    return HeapRef(state.new(Instance(External("inspect.Signature"), {"parameters": parameters})))


def has_own_signature(of: Function) -> bool:
    """Whether a function is called with the signature of its ``def``: all of its decorators are known to keep it."""
    if isinstance(of.node, ast.Lambda):
        return True
    kept = bool(of.kind) + (of.grad_mode is not None) + (of.casting is not None)
    return len(of.node.decorator_list) <= kept


def _parameters(of: Value | None) -> list[str] | None:
    """The names of the parameters of what may be a function; None where they are not known."""
    match of:
        case Function():
            bound = 0
        case BoundMethod(Function() as of):
            bound = 1
        case _:
            return None
    if not has_own_signature(of):
        return None
    spec = of.node.args
    positional = [*spec.posonlyargs, *spec.args][bound:]
    others = [each for each in (spec.vararg, *spec.kwonlyargs, spec.kwarg) if each is not None]
    return [each.arg for each in (*positional, *others)]
