"""A member of an ``enum.Enum`` of the program, which is taken for its value: so two members are compared at once.

class Mode(Enum):
    TRAIN = "train"

Mode.TRAIN.value     `Mode.TRAIN` is "train" here, and text has no `value`: but a member with that value has
"""

from __future__ import annotations

from ..domain.mro import lookup_in_mro, mro_of
from ..domain.state import State
from ..domain.values import BoundMethod, Class, Const, External, Function, HeapRef, Value, something

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
        defined = lookup_in_mro(state, kind, name)
        if defined is not None and isinstance(defined[1], Function) and not defined[1].kind:
            return BoundMethod(defined[1], value)
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
