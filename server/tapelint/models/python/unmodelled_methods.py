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

READING = frozenset(
    "__contains__ __getitem__ __iter__ __len__ __reversed__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __add__ __radd__ "
    "__mul__ __rmul__ __or__ __ror__ __and__ __sub__ __xor__ __repr__ __str__ __format__ __hash__ __sizeof__ "
    "__copy__ __deepcopy__ __class_getitem__ __dir__ __getattribute__ copy fromkeys most_common elements "
    "total isdisjoint issubset issuperset union intersection difference symmetric_difference join".split()
)
"""Methods of Python's containers that leave them as they are."""
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
