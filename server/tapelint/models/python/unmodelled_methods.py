"""Methods of Python's containers that have no model: what the container holds afterwards is not known.

losses.__delitem__(0)         a list of other items
table.__ior__(given)          a dict of other keys
counts.most_common(3)         this only reads
"""

from __future__ import annotations

from ...domain.opaque_values import is_data
from ...domain.state import State
from ...domain.values import HeapRef, Mapping, Sequence, Unknown, Value
from ...engine.machine import Machine
from ...engine.open_objects import changed, open_up

SETTING = frozenset(("__init__", "__setattr__", "__delattr__"))
READING = (frozenset((*dir(tuple), *dir(frozenset))) - SETTING) | {
    *("__copy__", "__deepcopy__", "__reversed__", "fromkeys", "most_common", "elements", "total", "join")
}
"""Methods of Python's containers that leave them as they are: those of containers that cannot be changed, and a few of
``dict``, ``Counter`` and ``Queue``.
"""
CHANGING = frozenset(("list", "set", "deque", "Queue", "Counter", "iterator", "dict"))
"""The containers of Python that can be changed."""


def may_have_changed(machine: Machine, state: State, receiver: Value, name: str) -> None:
    """A method that has no model was called on a value: if that is a container, it may hold anything now that is like
    what it held.
    """
    if not isinstance(receiver, HeapRef):
        return
    thing = state.heap[receiver.id]
    if not isinstance(thing, (Sequence, Mapping)) or thing.kind not in CHANGING or name in READING:
        return
    changed(machine, state, receiver.id)
    open_up(machine, [receiver])
    edited = state.edit(receiver.id, type(thing))
    held = edited.items.values() if isinstance(edited, Mapping) else edited.items
    item = Unknown("item", False if held and all(is_data(state, each) for each in held) else None)
    edited.is_partial = True
    if isinstance(edited, Mapping):
        edited.items = {Unknown("key", False): item}
    else:
        edited.items = [item] if held else []
