"""``a.b``: what the attribute of a value is, what it is set to, and where Python has none.

A member of an ``enum.Enum`` of the program, which is taken for its value: so two members are compared at once.

class Mode(Enum):
    TRAIN = "train"

Mode.TRAIN.value     `Mode.TRAIN` is "train" here, and text has no `value`: but a member with that value has
"""

from __future__ import annotations

import ast

from ..domain.completion import ProgramRaised
from ..domain.mro import mro_of, own_function
from ..domain.state import State
from ..domain.values import (
    NONE,
    TRUE,
    BoundMethod,
    BuiltinMethod,
    Class,
    Const,
    External,
    Frame,
    HeapRef,
    Instance,
    Module,
    Super,
    TensorRef,
    Tuple,
    Unknown,
    Value,
    something,
)
from ..engine.machine import EXPRESSIONS, Machine
from ..engine.open_objects import store_in_unknown
from ..engine.syntax.asked import GRADIENTS, names_with_gradient
from ..models.python.classes.value_classes import is_library_class
from ..models.torch import dispatch
from ..models.torch.autograd import grad_access, missing_grad
from ..models.torch.dtypes import asked_of_dtype
from ..models.torch.nn import frozen_parts
from ..models.torch.registry import is_opaque
from . import networks_by_use, object_attributes, tensor_attributes
from .refused.absent_attributes import refuse_attribute
from .refused.doubted_attributes import find_out

OF_DTYPES = ("is_floating_point", "is_complex")


def attribute(machine: Machine, node: ast.Attribute, state: State, key: object) -> Value:
    return loaded(machine, state, machine.eval(node.value, state), node, key)


def loaded(machine: Machine, state: State, owner: Value, node: ast.Attribute, key: object) -> Value:
    """The attribute that ``node`` reads of ``owner``; where Python has none, it raises."""
    if isinstance(owner, External) and node.attr not in OF_DTYPES:
        if node.attr == "__name__" and owner.name.startswith("torch.") and is_library_class(owner.name):
            return Const(owner.name.rpartition(".")[2])
        return External(f"{owner.name}.{node.attr}")
    if machine.context.awaiting:
        find_out(machine, state, owner, node)
    found = load(machine, state, owner, node.attr, node, key)
    refuse_attribute(machine, state, owner, node.attr, found)
    if isinstance(owner, Const) and not hasattr(owner.value, node.attr):
        if (of_member := attribute_of_member(state, owner, node.attr)) is not None:
            return of_member
        raise ProgramRaised("AttributeError", f"'{type(owner.value).__name__}' object has no attribute '{node.attr}'")
    return found


def load(machine: Machine, state: State, owner: Value, name: str, node: ast.AST, key: object = None) -> Value:
    if isinstance(owner, TensorRef):
        return tensor_attributes.load(machine, state, owner, name, node)
    if name in OF_DTYPES and (known := asked_of_dtype(owner, name)) is not None:
        return Const(known)
    if isinstance(owner, External):
        return External(f"{owner.name}.{name}")
    if isinstance(owner, Module):
        assert machine.imports is not None
        return machine.imports.load_attribute(state, owner, name)
    if isinstance(owner, HeapRef):
        return object_attributes.load(machine, state, owner, name, node, key)
    if isinstance(owner, Super):
        return object_attributes.load_super(machine, state, owner, name)
    if name in GRADIENTS and is_opaque(state, owner):
        grad_access.unknown_gradient(machine, state)
    if isinstance(owner, Unknown):
        return tensor_attributes.load_unknown(machine, state, owner, name, node)
    if isinstance(owner, Tuple) and name in owner.names:
        return owner.items[owner.names.index(name)]
    if owner == NONE:
        missing_grad.refuse_none(machine, state, owner, node, "AttributeError")
    return networks_by_use.part(machine, state, owner, name, node)


def _leaf_by_use(machine: Machine, state: State, owner: Value, value: Value, node: ast.AST) -> TensorRef | None:
    """The leaf that a variable of unknown value is from here on, where its ``requires_grad`` is set, and it is data or
    the function reads its ``.grad``: a network has no gradient, and what is no leaf refuses the flag.
    """
    if value != TRUE or not isinstance(owner, Unknown) or not isinstance(node, ast.Attribute):
        return None
    if owner.requires_grad is False:
        dispatch.release(state, node.value)
    frame = state.get(state.frame, Frame)
    scope = machine.tree if frame.function is None else frame.function.node
    name = node.value.id if isinstance(node.value, ast.Name) else None
    if name is None or frame.variables.get(name) != owner:
        return None
    if owner.requires_grad is not False and name not in names_with_gradient(scope):
        return None
    key = dispatch.tensor_of(machine, state, owner)
    if key is None or state.tensors[key].grad_fn is not None:
        return None
    state.edit(state.frame, Frame).variables[name] = TensorRef(key)
    return TensorRef(key)


def store(machine: Machine, state: State, owner: Value, name: str, value: Value, node: ast.AST) -> None:
    if name == "requires_grad":
        owner = _leaf_by_use(machine, state, owner, value, node) or owner
    if isinstance(owner, TensorRef):
        tensor_attributes.store(machine, state, owner, name, value, node)
    elif name in GRADIENTS and (isinstance(owner, Unknown) or is_opaque(state, owner)):
        grad_access.unknown_gradient(machine, state)
    elif isinstance(owner, (Unknown, BuiltinMethod)) and name == "requires_grad":
        frozen_parts.unknown_flag(machine, state)
    elif isinstance(owner, Unknown):
        tensor_attributes.store_unknown(machine, state, owner, name, value)
    elif isinstance(owner, (External, BuiltinMethod)):
        store_in_unknown(machine, state, owner, value)
    elif isinstance(owner, Module):
        assert machine.imports is not None
        machine.imports.store_attribute(state, owner, name, value)
    elif isinstance(owner, HeapRef):
        object_attributes.store(machine, state, owner, name, value, node)


def remove(machine: Machine, state: State, owner: Value, name: str, node: ast.AST) -> None:
    if isinstance(owner, HeapRef) and isinstance(state.heap[owner.id], Instance):
        state.edit(owner.id, Instance).attributes.pop(name, None)
    elif isinstance(owner, TensorRef):
        tensor_attributes.remove(machine, state, owner, name, node)


EXPRESSIONS[ast.Attribute] = attribute


VALUES = ("value", "_value_")
NAMES = ("name", "_name_")


def attribute_of_member(state: State, value: Const, name: str) -> Value | None:
    """What a member with this value has as the attribute ``name``; None where no class of the program has one."""
    found = [*_members(state, value)]
    if not found:
        return None
    if name in VALUES:
        return value
    if name in NAMES:
        return Const(found[0][1]) if len(found) == 1 else something(name, False)
    for kind, _ in found:
        defined = own_function(state, kind, name)
        if defined is not None and not defined.kind:
            return BoundMethod(defined, value)
    return something(name)


def _members(state: State, value: Const) -> list[tuple[HeapRef, str]]:
    """The classes that have a member with this value, and what it is called there."""
    kinds = [HeapRef(key) for key, thing in state.heap.items() if isinstance(thing, Class)]
    return [
        (kind, name)
        for kind in kinds
        if any(isinstance(base, External) and base.name.startswith("enum.") for base in mro_of(state, kind))
        for name, known in state.get(kind.id, Class).attributes.items()
        if known == value
    ]
