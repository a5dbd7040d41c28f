"""Under which names the program stores tensors: messages call them so, and loops are asked what they keep.

What names and attributes hold, without running any code: no property, no ``__getattr__``, nothing that is reported.

except self.errors:        what a handler names is evaluated only when something is raised
lap.fit(loader)            the object of a call that has been evaluated
"""

from __future__ import annotations

import ast

from ..autograd import LastStore, Provenance, Stored, StoreKind
from ..domain.facets import is_facet
from ..domain.mro import lookup_in_mro
from ..domain.state import State
from ..domain.traversal import tensors_in
from ..domain.values import Class, External, HeapRef, Instance, Module, Sequence, TensorRef, Tuple, Unknown, Value
from .machine import Machine
from .module_system import is_in_stub


def remember(
    machine: Machine, state: State, name: str, value: Value, statement: ast.AST, source: ast.expr | None, how: StoreKind
) -> None:
    """Tell the tape that ``value`` is now known as ``name``. What is unknown may turn out to be a tensor."""
    if isinstance(value, Unknown):
        machine.facts.name(value.tensor_id, name)
    if not isinstance(value, (TensorRef, HeapRef, Tuple)):
        return
    if isinstance(value, HeapRef):
        _name_parameters(machine, state, name.removeprefix("self."), value, 2)
    direct = isinstance(value, TensorRef)
    for tensor in (value.id,) if isinstance(value, TensorRef) else tensors_in(state, value, 2):
        if direct:
            machine.facts.name(tensor, name)
        if state.tensors[tensor].requires_grad is not False and not is_in_stub(machine.imports, state):
            kind = StoreKind.HELD if how is StoreKind.ASSIGNED and not direct else how
            stored = Stored(state.point(statement), name, source, statement, kind)
            machine.facts.record_store(tensor, stored)
            if state.iterations and how is not StoreKind.ITERATED and state.tensors[tensor].grad_fn is not None:
                state.last_stores[statement] = LastStore(tensor, stored)


def writes_part(state: State, name: str, whole: int, part: int, statement: ast.AST, source: ast.expr | None) -> None:
    """A tensor was written into a part of another one, which keeps its graph beside those of the other parts."""
    if state.iterations and None not in (state.tensors[whole].grad_fn, state.tensors[part].grad_fn):
        stored = Stored(state.point(statement), name, source, statement, StoreKind.ASSIGNED)
        state.last_stores[statement] = LastStore(whole, stored)


def returns(machine: Machine, state: State, value: Value, node: ast.Return) -> None:
    """A function of the program returns ``value``."""
    if isinstance(value, (TensorRef, Tuple)) and not is_in_stub(machine.imports, state):
        for tensor in (value.id,) if isinstance(value, TensorRef) else tensors_in(state, value, 1):
            if state.tensors[tensor].requires_grad is not False:
                machine.facts.record_return(tensor, state.point(node))


def replaces(machine: Machine, state: State, old: Value | None, value: Value) -> None:
    """``value`` is about to be called what ``old`` was: an optimizer that was given ``old`` keeps it."""
    if not isinstance(old, TensorRef) or not isinstance(value, TensorRef) or old.id == value.id:
        return
    before, after = state.tensors[old.id], state.tensors[value.id]
    if before.requires_grad and before.grad_fn is None and after.grad_fn is None and after.requires_grad is not None:
        machine.facts.record_provenance(value.id, Provenance(replaces=old.id))


def _name_parameters(machine: Machine, state: State, name: str, value: Value, depth: int) -> None:
    """Parameters are known by the attribute their layer is kept in: ``fc2.weight``."""
    if not isinstance(value, HeapRef) or not depth:
        return
    thing = state.heap.get(value.id)
    if isinstance(thing, Instance) and isinstance(thing.kind, External):
        for attribute, item in thing.attributes.items():
            if isinstance(item, TensorRef) and state.tensors[item.id].parameter and not is_facet(attribute):
                machine.facts.name(item.id, f"{name}.{attribute}")
    elif isinstance(thing, Sequence) and thing.kind != "list":
        for index, item in enumerate(thing.items):
            _name_parameters(machine, state, f"{name}[{index}]", item, depth - 1)


def named(machine: Machine, state: State, expression: ast.expr) -> Value | None:
    """What a variable holds, or an attribute of a module, a class or an object; None where that is not known, and for
    any other expression.
    """
    match expression:
        case ast.Name(name):
            return machine.lookup(state, name)
        case ast.Attribute(base, name):
            owner = named(machine, state, base)
            return None if owner is None else _attribute(machine, state, owner, name)
    return None


def _attribute(machine: Machine, state: State, owner: Value, name: str) -> Value | None:
    match owner:
        case External(name=library):
            return External(f"{library}.{name}")
        case Module() if machine.imports is not None:
            return machine.imports.load_attribute(state, owner, name)
        case HeapRef(id=place) if isinstance(thing := state.heap[place], (Instance, Class)):
            if name in thing.attributes:
                return thing.attributes[name]
            found = lookup_in_mro(state, owner if isinstance(thing, Class) else thing.kind, name)
            return None if found is None else found[1]
    return None
