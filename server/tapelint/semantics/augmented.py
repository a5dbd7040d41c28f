"""``a += b``, ``a.b += c`` and ``a[i] += b``, in the order in which Python evaluates their parts."""

from __future__ import annotations

import ast

from .. import ops
from ..bounds import BOUNDS
from ..domain.state import State
from ..domain.values import Const, HeapRef, Instance, Origin, Sequence, TensorRef, Unknown, Value
from ..engine.lost_history import added
from ..engine.machine import Machine
from ..engine.open_objects import changed, open_up
from ..models.python import array_memory, sets
from ..models.torch import dispatch
from . import attributes, subscripts
from .assign import Place, assign, place_of, store
from .calls import call_dunder
from .operators import DUNDER, combine, counted


def augmented(machine: Machine, node: ast.AugAssign, state: State) -> None:
    """``a += b``: in place on tensors and lists, otherwise ``a = a + b``. Python evaluates the parts of the target
    once, loads what is there, evaluates the right side and stores into those very parts, whatever the right side has
    bound to their names.
    """
    target = node.target
    place: Place | ast.Name = target if isinstance(target, ast.Name) else _place(machine, state, target)
    load = machine.memoize(target, "load", lambda key: _loaded(machine, state, place, key))
    value = machine.eval(node.value, state)
    load = dispatch.proven(machine, state, load)
    name = type(node.op).__name__
    if isinstance(load, TensorRef):
        row = ops.operator_name(name, inplace=True)
        result = dispatch.run(machine, state, row, [load, value], {}, node) if row else None
        if isinstance(result, TensorRef) and name in ("Add", "Sub"):
            added(machine, result, value)
        _stored(machine, state, place, load if result is None else result, node)
        return
    if isinstance(load, HeapRef):
        result_object = _augmented_object(machine, state, name, load, value, node)
        if result_object is not None:
            _stored(machine, state, place, result_object, node)
            return
    if isinstance(load, Unknown) and load.origin is Origin.BATCH and not isinstance(value, Const):
        tensor = dispatch.tensor_of(machine, state, load)
        row = ops.operator_name(name, inplace=True)
        if tensor is not None and row and tensor in state.tensors:
            dispatch.run(machine, state, row, [TensorRef(tensor), value], {}, node)
            return
    _stored(machine, state, place, _combined(machine, state, load, value, node), node, node.value)


def _place(machine: Machine, state: State, target: ast.Attribute | ast.Subscript) -> Place:
    return machine.memoize(target, "place", lambda _: place_of(machine, state, target))


def _loaded(machine: Machine, state: State, place: Place | ast.Name, key: object) -> Value:
    """What the target of an augmented assignment is before it."""
    if isinstance(place, ast.Name):
        return machine.eval(place, state)
    target = place.target
    if isinstance(target, ast.Attribute):
        found = attributes.loaded(machine, state, place.owner, target, key)
    else:
        assert place.index is not None
        found = subscripts.loaded(machine, state, place.owner, place.index, target)
    if machine.probe is not None:
        machine.probe(target, state, found)
    return found


def _stored(
    machine: Machine,
    state: State,
    place: Place | ast.Name,
    value: Value,
    node: ast.AugAssign,
    source: ast.expr | None = None,
) -> None:
    if isinstance(place, ast.Name):
        assign(machine, state, place, value, node, source)
    else:
        store(machine, state, place, value, node, source)


def _combined(machine: Machine, state: State, load: Value, value: Value, node: ast.AugAssign) -> Value:
    """What ``a += b`` makes of numbers and unknown values; an array stays the same one."""
    result = counted(machine, state, node.op, combine(machine, state, node.op, load, value, node))
    if not array_memory.is_memory(machine, load):
        return result
    if not isinstance(node.target, ast.Subscript):  # the assignment to an item is a write by itself
        array_memory.note_write(machine, state, load, node)
    return load


def _augmented_object(
    machine: Machine, state: State, name: str, owner: HeapRef, value: Value, node: ast.AugAssign
) -> Value | None:
    """What is assigned after a list was extended, or an object's ``__iadd__`` called; None where it is neither."""
    thing = state.heap[owner.id]
    if name != "Add":
        open_up(machine, [owner])
    if isinstance(thing, Sequence) and name == "Add":
        source = machine.iterate(state, value, node)
        changed(machine, state, owner.id)
        edited = state.edit(owner.id, Sequence)
        values = source.values[: max(BOUNDS.items - len(edited.items), 0)]
        edited.items += values
        edited.is_partial = thing.is_partial or not source.exact or len(values) < len(source.values)
        return owner
    if isinstance(thing, Sequence) and thing.kind == "set" and (by := sets.combined(state, name, owner, value)):
        sets.replace_members(machine, state, owner, by)
        return owner
    if isinstance(thing, Instance):
        return call_dunder(machine, state, owner, f"__i{DUNDER.get(name, '')}__", [value], node)
    return None
