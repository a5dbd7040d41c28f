"""``x.a`` where ``x`` is an object, a class or a container of the program's: read and set, with what runs then."""

from __future__ import annotations

import ast
import sys
from dataclasses import replace

from ..autograd import StoreKind
from ..autograd.gradients.history import looked_at
from ..domain import facets
from ..domain.mro import OBJECT, is_module, lookup_in_mro, own_function
from ..domain.state import State
from ..domain.values import (
    BoundMethod,
    BuiltinMethod,
    Class,
    Const,
    External,
    Function,
    HeapRef,
    Instance,
    Mapping,
    Optimizer,
    Sequence,
    Super,
    TensorRef,
    Unknown,
    Value,
)
from ..engine.machine import Machine
from ..engine.open_objects import open_up
from ..engine.stored_names import remember, replaces
from ..models.torch.autograd_function.context import CONTEXT
from ..models.torch.autograd_function.context_reads import refuse_unset
from ..models.torch.nn import frozen_parts, module_registry
from ..models.torch.nn.parametrizations import computed
from ..models.torch.optim.handed_optimizers import is_of_unknown_code
from ..models.torch.optim.optimizers import param_groups
from ..models.torch.registry import ATTRIBUTES, MAPPING_METHODS, MODULE_METHODS, model_of
from . import networks_by_use
from .receivers import is_left_to_others

MODULES = ("Sequential", "ModuleList")


BY_ATTRIBUTE = ("config", "ModuleDict")
"""Dictionaries whose items are attributes, too."""


OF_CLASSES = ("__init_subclass__", "__class_getitem__")
"""Special methods that are given the class; the others are given an object: ``Base.__init__(self)``."""


DICTS = (*module_registry.KINDS, "__dict__")


def load(machine: Machine, state: State, owner: HeapRef, name: str, node: ast.AST, key: object) -> Value:
    thing = state.heap[owner.id]
    if isinstance(thing, Instance):
        return _of_instance(machine, state, owner, thing, name, node, key)
    found: Value | None = None
    if isinstance(thing, Class):
        found = _of_class(state, owner, thing, name)
    elif isinstance(thing, Sequence):
        found = _of_sequence(owner, thing, name)
    elif isinstance(thing, Mapping) and thing.kind in BY_ATTRIBUTE:
        found = thing.items.get(name) if name not in MAPPING_METHODS else None
    if found is not None:
        return found
    if name in DICTS and module_registry.is_module_like(state, owner):
        whole = name == "__dict__"
        return module_registry.all_attributes(state, owner) if whole else module_registry.registry(state, owner, name)
    if isinstance(thing, Optimizer) and name == "param_groups":
        return param_groups(machine, state, owner, node)
    return BuiltinMethod(owner, name)


def _of_instance(
    machine: Machine, state: State, owner: HeapRef, thing: Instance, name: str, node: ast.AST, key: object
) -> Value:
    """An attribute of an object, in Python's order: its own, its class's, what ``__getattr__`` computes; last what is
    known of objects of libraries.
    """
    own = thing.attributes.get(name)
    if own is not None and not (name in MODULE_METHODS and _is_hidden(state, owner, own)):
        machine.unit.iteration_facts.accessed[owner.id, name] = machine.fuel_used
        return own
    found = lookup_in_mro(state, thing.kind, name)
    if found is not None and found[1] is not None:
        return _bound(machine, state, found[1], owner, thing.kind, node, key)
    special = _of_every_object(machine, state, owner, thing, name)
    if special is not None:
        return special
    getter = lookup_in_mro(state, thing.kind, "__getattr__")
    if getter is not None and getter[1] is not None:
        return machine.call(state, getter[1], [owner, Const(name)], {}, node)
    model = ATTRIBUTES.get(f"{thing.kind.name}.{name}") if isinstance(thing.kind, External) else None
    if model is not None:
        return model(machine, state, owner)
    if facets.PARAMETRIZED in thing.attributes:
        weights = computed(machine, state, thing, node, name)
        if name in weights:
            return weights[name]
    return _of_unknown(machine, state, owner, thing, name, node)


def _of_unknown(machine: Machine, state: State, owner: HeapRef, thing: Instance, name: str, node: ast.AST) -> Value:
    """One that no code sets which is read."""
    if thing.kind == CONTEXT:
        refuse_unset(machine, state, owner, name, node)
    if name not in MODULE_METHODS:
        frozen_parts.note_access(machine, thing)
    return networks_by_use.inherited(machine, state, BuiltinMethod(owner, name), node)


def _of_every_object(machine: Machine, state: State, owner: HeapRef, thing: Instance, name: str) -> Value | None:
    """What every object has without any class of the program defining it, and the dicts that every module has."""
    if name == "__class__":
        return thing.kind
    if name == "__dict__":
        open_up(machine, [owner])
        return module_registry.all_attributes(state, owner)
    if name in module_registry.KINDS and module_registry.is_module_like(state, owner):
        frozen_parts.note_access(machine, thing)
        open_up(machine, [owner])
        return module_registry.registry(state, owner, name)
    return None


def _of_class(state: State, owner: HeapRef, thing: Class, name: str) -> Value | None:
    """An attribute of a class: its own or inherited, from a class of the program or of a library."""
    if name == "__name__":
        return Const(thing.name)
    found = lookup_in_mro(state, owner, name)
    if found is None:
        return None
    base, value = found
    if value is not None:
        return BoundMethod(value, owner) if isinstance(value, Function) and value.kind == "class" else value
    if not isinstance(base, External):
        return None
    foreign = External(f"{base.name}.{name}")
    # What a class hands out is a plain function (`Base.parameters(net)`), but for its class methods.
    is_plain = name in MODULE_METHODS and name != "__new__" and is_module(state, owner)
    is_special = name.startswith("__") and name not in OF_CLASSES
    return foreign if is_plain or is_special else BoundMethod(foreign, owner)


def _of_sequence(owner: HeapRef, thing: Sequence, name: str) -> Value | None:
    """Of a container of layers: its mode, or a layer by its name."""
    if thing.kind in MODULES and name in ("training", "__class__"):
        return Const(thing.training) if name == "training" else External(f"torch.nn.{thing.kind}")
    if name in thing.names:
        return dict(thing.named()).get(name) or BuiltinMethod(owner, name)
    return None


def _bound(
    machine: Machine, state: State, value: Value, owner: Value, kind: Value, node: ast.AST, key: object
) -> Value:
    if isinstance(value, Function):
        if value.kind == "static":
            return value
        if value.kind == "class":
            return BoundMethod(value, kind)
        if is_left_to_others(machine, state, owner, value):
            return BuiltinMethod(owner, getattr(value.node, "name", ""))  # of an unknown derived class
        if value.kind == "property":
            return machine.call(state, replace(value, kind=""), [owner], {}, node, key)
        if value.kind == "cached":
            return _computed_once(machine, state, value, owner, node)
        return BoundMethod(value, owner)
    return value


def _computed_once(machine: Machine, state: State, value: Function, owner: Value, node: ast.AST) -> Value:
    """A ``cached_property``: the object has what it returned as an attribute from now on."""
    found = machine.memoize(
        node, "cached", lambda key: machine.call(state, replace(value, kind=""), [owner], {}, node, key)
    )
    if isinstance(owner, HeapRef) and isinstance(value.node, ast.FunctionDef):
        state.edit_attributes(owner.id)[value.node.name] = found
        remember(machine, state, f"self.{value.node.name}", found, value.node, None, StoreKind.ASSIGNED)
    return found


def _is_hidden(state: State, owner: HeapRef, value: Value) -> bool:
    """Whether a network has registered a value: methods of ``nn.Module`` are found before what only ``__getattr__``
    finds (``self.parameters = nn.ParameterList()``).
    """
    is_registered = isinstance(value, HeapRef) and module_registry.is_module_like(state, value)
    return is_registered and module_registry.is_module_like(state, owner)


def load_super(machine: Machine, state: State, owner: Super, name: str) -> Value:
    receiver = owner.receiver
    kind: Value = receiver
    if isinstance(receiver, HeapRef) and isinstance(thing := state.heap[receiver.id], Instance):
        kind = thing.kind
    found = lookup_in_mro(state, kind, name, after=owner.owner)
    if found is None:
        inherited = f"{OBJECT.name}.{name}"
        return BoundMethod(External(inherited), receiver) if model_of(inherited) else BuiltinMethod(receiver, name)
    if found[1] is None:
        return (
            BoundMethod(External(f"{found[0].name}.{name}"), receiver)
            if isinstance(found[0], External)
            else BuiltinMethod(Unknown("super"), name)
        )
    value = found[1]
    if isinstance(value, Function) and value.kind == "static":
        return value
    return BoundMethod(
        replace(value, kind="") if isinstance(value, Function) else value,
        kind if isinstance(value, Function) and value.kind == "class" else receiver,
    )


def store(machine: Machine, state: State, owner: HeapRef, name: str, value: Value, node: ast.AST) -> None:
    thing = state.heap[owner.id]
    if isinstance(value, TensorRef) and state.tensors[value.id].requires_grad is False:
        machine.facts.objects.handed_out.add(value.id)
    if name == "__dict__":
        module_registry.all_replaced(state, owner, value)
    elif name in module_registry.KINDS and module_registry.is_module_like(state, owner):
        module_registry.replace_entries(state, owner, name, value)
    elif isinstance(thing, Instance):
        value = networks_by_use.attribute(machine, state, thing, name, value, node)
        if not _call_setter(machine, state, owner, thing, name, value, node):
            machine.unit.iteration_facts.accessed[owner.id, name] = machine.fuel_used
            replaces(machine, state, thing.attributes.get(name), value)
            _set(state.edit(owner.id, Instance).attributes, name, value)
    elif isinstance(thing, Class):
        _set(state.edit(owner.id, Class).attributes, name, value)
    elif isinstance(thing, Mapping) and _is_item(thing, name):
        state.edit(owner.id, Mapping).items[name] = value
    elif isinstance(thing, Sequence):
        _store_in_sequence(state, owner, name, value)
    elif is_of_unknown_code(machine, owner):
        looked_at(state, None)  # an optimizer is told what these gradients were for


def _set(attributes: dict[str, Value], name: str, value: Value) -> None:
    attributes.pop(facets.doubted(name), None)
    attributes[name] = value


def _store_in_sequence(state: State, owner: HeapRef, name: str, value: Value) -> None:
    """Set an attribute of a container of modules: its mode, or one more module."""
    if name == "training" and isinstance(value, Const):
        state.edit(owner.id, Sequence).training = bool(value.value)
    elif all(module_registry.is_module_like(state, each) for each in (owner, value)):
        module_registry.keep(state, owner, "_modules", name, value)


def _is_item(thing: Mapping, name: str) -> bool:
    """Whether to set an attribute of a dictionary is to set an item."""
    return thing.kind == "config" or thing.kind in BY_ATTRIBUTE and name in thing.items


def _call_setter(
    machine: Machine, state: State, owner: HeapRef, thing: Instance, name: str, value: Value, node: ast.AST
) -> bool:
    """Run the setter of a property, or ``__setattr__``; False where the class has neither, or where enough was seen of
    it to know that it keeps what it is given: then the bookkeeping beside that is left out.
    """
    setters: tuple[tuple[str, list[Value]], ...] = (
        (f"{name}.setter", [owner, value]),
        ("__setattr__", [owner, Const(name), value]),
    )
    for method, args in setters:
        found = own_function(state, thing.kind, method)
        if found is not None:
            definition, begin = found.node, machine.fuel_used
            if machine.unit.keeping.get(definition, 0) > machine.limits.setter_fuel:
                return False
            machine.call(state, replace(found, kind=""), args, {}, node)
            if method == "__setattr__":
                is_kept = state.attributes(owner.id).get(name) == value
                machine.unit.keeping[definition] = (
                    machine.unit.keeping.get(definition, 0) + machine.fuel_used - begin if is_kept else -sys.maxsize
                )
            return True
    return False
