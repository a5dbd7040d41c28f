"""Attributes that are not there: Python raises AttributeError where one is read.

net.layer1        an object of the program whose attributes are all known
helpers.tarin     a module of the program
step.count        a function
"""

from __future__ import annotations

from ...domain.completion import ProgramRaised
from ...domain.state import State
from ...domain.values import BuiltinMethod, Class, Function, HeapRef, Instance, Module, Unknown, Value
from ...engine.machine import Machine
from ...models.python.known_attributes import has


def refuse_attribute(machine: Machine, state: State, owner: Value, name: str, found: Value) -> None:
    """Raise if ``owner`` lacks the attribute ``name``; where it does, it is not known what was ``found`` there."""
    match owner:
        case HeapRef() | Function() if isinstance(found, BuiltinMethod) and found.receiver == owner:
            pass
        case Module() if isinstance(found, Unknown):
            pass
        case _:
            return
    if has(machine, state, owner, name) is False:
        raise ProgramRaised("AttributeError", f"{_described(state, owner)} has no attribute '{name}'")


def _described(state: State, owner: Value) -> str:
    match owner:
        case Module(path):
            return f"module '{path}'"
        case HeapRef():
            thing = state.heap[owner.id]
            kind = (
                state.heap.get(thing.kind.id)
                if isinstance(thing, Instance) and isinstance(thing.kind, HeapRef)
                else None
            )
            return f"'{kind.name}' object" if isinstance(kind, Class) else "object"
        case _:
            return "'function' object"
