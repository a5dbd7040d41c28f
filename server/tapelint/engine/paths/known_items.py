"""Keys and places that a container lacks for certain, because the program spells out all that it holds.

options = {"lr": 0.1}
options["momentum"]             KeyError
for name in names: options[name] = 1
options["momentum"]             unknown: a loop may have put in more than it was followed for
"""

from __future__ import annotations

from ...domain.completion import ProgramRaised
from ...domain.state import State
from ...domain.values import Const, HeapRef, Mapping, Sequence, Value, as_key
from ..machine import Machine
from ..open_objects import is_complete


def refuse_key(machine: Machine, state: State, owner: Value, key: Value) -> None:
    """Raise Python's KeyError if a dict does not hold ``key``."""
    thing = state.heap[owner.id] if isinstance(owner, HeapRef) else None
    if not isinstance(owner, HeapRef) or not isinstance(thing, Mapping) or type(key) is not Const:
        return
    if thing.kind != "dict" or thing.owner is not None or thing.default is not None or not thing.has_known_keys:
        return
    known = as_key(key)
    if isinstance(known, PLAIN) and known not in thing.items and is_complete(machine, state, owner.id, not thing.items):
        raise ProgramRaised("KeyError", repr(key.value))


def refuse_place(machine: Machine, state: State, owner: Value, place: Value, name: str = "list index") -> None:
    """Raise Python's IndexError if a list is not so long that it has ``place``."""
    thing = state.heap[owner.id] if isinstance(owner, HeapRef) else None
    if not isinstance(owner, HeapRef) or not isinstance(thing, Sequence) or type(place) is not Const:
        return
    if thing.kind != "list" or thing.is_partial or not isinstance(place.value, int):
        return
    if -len(thing.items) <= place.value < len(thing.items):
        return
    if is_complete(machine, state, owner.id, not thing.items):
        raise ProgramRaised("IndexError", f"{name} out of range")


def refuse_value(machine: Machine, state: State, owner: HeapRef, value: Value) -> None:
    """Raise Python's ValueError if a list of plain values does not hold ``value``."""
    thing = state.heap[owner.id]
    if not isinstance(thing, Sequence) or thing.kind != "list" or thing.is_partial or type(value) is not Const:
        return
    if all(type(item) is Const for item in thing.items) and value not in thing.items:
        if is_complete(machine, state, owner.id, not thing.items):
            raise ProgramRaised("ValueError", f"{value.value!r} is not in list")


PLAIN = (str, bytes, int, float, Const)
"""Keys that equal others only by their value."""
