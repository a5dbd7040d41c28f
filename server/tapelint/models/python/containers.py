"""Methods of lists, sets, deques, dicts and their Module twins; and in which order the items of a list are after it was
sorted, or something was put in at an unknown place.

sorted([3, 1, 2])                    [1, 2, 3]
sorted(losses, key=by_size)          the same losses; by what they are sorted is not asked
sorted([3, 1, 2], key=by_size)       three numbers, it is not known which of them stands where
"""

from __future__ import annotations

import ast

from ...autograd import StoreKind
from ...bounds import BOUNDS
from ...domain.completion import ProgramRaised
from ...domain.opaque_values import is_data, item_at_unknown_place
from ...domain.options import settled
from ...domain.state import State
from ...domain.values import (
    FALSE,
    NONE,
    Const,
    External,
    HeapRef,
    Mapping,
    Partial,
    Sequence,
    TensorRef,
    Tuple,
    Unknown,
    Value,
    as_key,
    of_key,
    unknown_number,
)
from ...engine.lifecycle import Appended
from ...engine.machine import Machine
from ...engine.open_objects import changed, open_up
from ...engine.paths.picks import code_picked
from ...engine.stored_names import remember
from ...source import written
from ..torch.nn.new_parameters import kept
from ..torch.registry import MAPPING_METHODS, SEQUENCE_METHODS, Call, function, method


def _name(call: Call) -> str:
    """How the program calls the container: ``hs`` in ``hs.append(h)``."""
    function = call.node.func if isinstance(call.node, ast.Call) else None
    return written(function.value) if isinstance(function, ast.Attribute) else "container"


def _given(call: Call, index: int = 0) -> ast.expr | None:
    return call.node.args[index] if isinstance(call.node, ast.Call) and -1 < index < len(call.node.args) else None


@method(SEQUENCE_METHODS, "append", "appendleft", "put", "insert", "put_nowait")
def append(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    changed(machine, state, receiver.id)
    place = 1 if call.name == "insert" else 0
    value = call.kwargs["item"] if "item" in call.kwargs else call.args[place]
    thing = state.edit(receiver.id, Sequence)
    value = kept(machine, state, thing, value, call.node)
    if call.name == "appendleft":
        thing.push_left(value)
    elif call.name == "insert":
        _insert(thing, call.args[0], value)
    else:
        thing.push(value)
    remember(machine, state, _name(call), value, call.node, _given(call, place), StoreKind.APPENDED)
    if call.name == "append" and isinstance(value, (TensorRef, Unknown)):
        machine.lifecycle.appended.publish(machine, Appended(state, receiver.id, value, call.node))
    return NONE


def _insert(thing: Sequence, place: Value, value: Value) -> None:
    """Put an item before the one at ``place``; where that is not known, nor is what stands where."""
    if isinstance(place, Const) and isinstance(place.value, int):
        thing.items.insert(place.value, value)
    else:
        thing.items = in_unknown_order([*thing.items, value])


@method(SEQUENCE_METHODS, "add_module", "register_module")
def add_module(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    thing = state.edit(receiver.id, Sequence)
    name = call.get(0, "name")
    before = [known for known, _ in thing.named()]
    thing.items.append(call.get(1, "module"))
    thing.names = (*before, str(name.value)) if isinstance(name, Const) else ()
    return NONE


@method(SEQUENCE_METHODS, "extend", "update")
def extend(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    changed(machine, state, receiver.id)
    found = machine.iterate(state, call.args[0], call.node) if call.args else None
    if found is not None:
        thing = state.edit(receiver.id, Sequence)
        values = found.values[: max(BOUNDS.items - len(thing.items), 0)]
        for value in values:
            thing.push(kept(machine, state, thing, value, call.node))
        thing.is_partial = thing.is_partial or not found.exact or len(values) < len(found.values)
        for value in values:
            remember(machine, state, _name(call), value, call.node, _given(call), StoreKind.APPENDED)
    return NONE


@method(SEQUENCE_METHODS, "pop", "popleft", "get", "get_nowait")
def pop(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    thing = state.edit(receiver.id, Sequence)
    if not thing.items:
        # An empty queue waits for what another thread puts into it.
        if thing.is_partial or call.name == "get" or receiver.id in machine.facts.objects.open_objects:
            return Unknown("item")
        raise ProgramRaised("IndexError")
    changed(machine, state, receiver.id)
    index = 0 if call.name != "pop" else call.args[0].value if call.args and isinstance(call.args[0], Const) else -1
    if not isinstance(index, int) or not -len(thing.items) <= index < len(thing.items):
        return item_at_unknown_place(state, thing.items)
    return thing.items.pop(index)


@method(SEQUENCE_METHODS, "clear")
def clear(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    changed(machine, state, receiver.id)
    thing = state.edit(receiver.id, Sequence)
    thing.items, thing.is_partial = [], False
    return NONE


@method(SEQUENCE_METHODS, "remove")
def remove(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    changed(machine, state, receiver.id)
    items = state.edit(receiver.id, Sequence).items
    if call.args and call.args[0] in items:
        items.remove(call.args[0])
    elif items:
        open_up(machine, [receiver])
    return NONE


@method(SEQUENCE_METHODS, "copy")
def copy(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    return HeapRef(state.new(state.heap[receiver.id].copy()))


@method(SEQUENCE_METHODS, "reverse")
def reverse(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    state.edit(receiver.id, Sequence).items.reverse()
    return NONE


@method(SEQUENCE_METHODS, "sort")
def sort(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    thing = state.edit(receiver.id, Sequence)
    thing.items = in_order(thing.items, thing.is_partial, call.kwargs)
    return NONE


@method(SEQUENCE_METHODS, "index", "count", "empty", "qsize", "full")
def quiet(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    if call.name == "empty":
        thing = state.get(receiver.id, Sequence)
        return Const(not thing.items) if not thing.is_partial else Unknown("empty", False)
    return unknown_number()


@method(MAPPING_METHODS, "items", "keys", "values")
def views(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    thing = state.get(receiver.id, Mapping)
    pairs = [(of_key(key), value) for key, value in thing.items.items()]
    if call.name == "items":
        found: list[Value] = [Tuple(pair) for pair in pairs]
    else:
        found = [k if call.name == "keys" else v for k, v in pairs]
    return HeapRef(state.new(Sequence("iterator", found, thing.is_partial)))


@method(MAPPING_METHODS, "get", "pop", "setdefault")
def entry(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    thing = state.get(receiver.id, Mapping)
    key = as_key(settled(call.get(0, "key")))
    default = call.get(1, "default")
    _asked(machine, state, receiver, call, key is not None)
    if key is not None and key in thing.items:
        return thing.items[key] if call.name != "pop" else state.edit(receiver.id, Mapping).items.pop(key)
    if call.name == "setdefault" and key is not None:
        state.edit(receiver.id, Mapping).items[key] = default
        return default
    if key is None and call.name == "get" and (found := code_picked(machine, state, thing, call.node)) is not None:
        return found
    return default if key is not None and thing.has_known_keys else Unknown("item")


def _asked(machine: Machine, state: State, receiver: HeapRef, call: Call, is_known: bool) -> None:
    """A dict is asked for a key, which is known or not: that may change it, and what it lacks cannot be popped."""
    if call.name == "pop" and not is_known:
        open_up(machine, [receiver])
    if call.name != "get":
        changed(machine, state, receiver.id)


def _add_unknown(state: State, thing: Mapping, source: Value) -> None:
    """A dict takes over entries of which nothing is known: one stands for all that it was given so."""
    thing.is_partial = True
    grad = False if is_data(state, source) else None
    known = ((key, value) for key, value in thing.items.items() if isinstance(key, Unknown))
    if not any(isinstance(value, Unknown) and value.requires_grad is grad for _, value in known):
        thing.items[Unknown("key", False)] = Unknown("item", grad)


@method(MAPPING_METHODS, "update")
def merge(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    changed(machine, state, receiver.id)
    thing = state.edit(receiver.id, Mapping)
    source = call.args[0] if call.args else None
    if isinstance(source, HeapRef) and isinstance(other := state.heap[source.id], Mapping):
        thing.items.update(other.items)
        thing.is_partial = thing.is_partial or other.is_partial
    elif source is not None:
        _add_unknown(state, thing, source)
    thing.items.update(call.kwargs)
    if isinstance(call.node, ast.Call) and any(word.arg is None for word in call.node.keywords):
        open_up(machine, [receiver])
    return NONE


@method(MAPPING_METHODS, "clear")
def empty(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    changed(machine, state, receiver.id)
    thing = state.edit(receiver.id, Mapping)
    thing.items, thing.is_partial = {}, False
    return NONE


@method(MAPPING_METHODS, "copy")
def duplicate(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    thing = state.get(receiver.id, Mapping).copy()
    if thing.owner is not None:
        thing.kind, thing.owner = "dict", None
    return HeapRef(state.new(thing))


@function("weakref.ref")
def weak(machine: Machine, state: State, call: Call) -> Value:
    """``weakref.ref(thing)``: called, it gives the thing as long as some code holds it."""
    return Partial(External("weakref.ref()"), tuple(call.args[:1]), ())


@function("weakref.ref()")
def referred(machine: Machine, state: State, call: Call) -> Value:
    return call.get(0, "object")


def in_order(items: list[Value], is_partial: bool, options: dict[str, Value]) -> list[Value]:
    """The items as ``sorted`` orders them with ``key`` and ``reverse`` among ``options``: known where all of them are
    plain values. Raises TypeError in the program where some cannot be compared.
    """
    reverse = options.get("reverse", FALSE)
    known = [item.value for item in items if isinstance(item, Const)]
    is_known = len(known) == len(items) and not is_partial and isinstance(reverse, Const)
    if not is_known or options.get("key", NONE) != NONE:
        return in_unknown_order(items)
    try:
        places = sorted(range(len(known)), key=known.__getitem__, reverse=reverse == Const(True))
    except TypeError:
        raise ProgramRaised("TypeError") from None
    return [items[place] for place in places]


def in_unknown_order(items: list[Value]) -> list[Value]:
    """The items where it is not known which of them stands where: of plain values that differ none is known. Others,
    such as tensors, differ only in what is done with them, and stay.
    """
    plain = [item.value for item in items if isinstance(item, Const)]
    if len(plain) < len(items) or all(value == plain[0] for value in plain):
        return items
    if all(isinstance(value, (int, float)) for value in plain):
        return [unknown_number() for _ in items]
    return [Unknown("item", False) for _ in items]
