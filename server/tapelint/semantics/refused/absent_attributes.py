"""Attributes that are not there: Python raises AttributeError where one is read.

net.layer1        an object of the program whose attributes are all known
helpers.tarin     a module of the program
step.count        a function

What ``hasattr`` says of the path that is followed (``attribute_questions.py``) is not enough to end it: nothing raises
where another path may have bound the attribute.
"""

from __future__ import annotations

from ...domain.completion import ProgramRaised
from ...domain.mro import OBJECT, mro_of
from ...domain.state import State
from ...domain.values import BuiltinMethod, Class, External, Function, HeapRef, Instance, Module, Unknown, Value
from ...engine.machine import Machine
from ...engine.module_system import is_of_stub
from ...engine.open_objects import is_whole, may_bind, may_bind_any
from ...models.python.classes.attribute_questions import has

PLAIN_BASES = frozenset((OBJECT, External("torch.nn.Module"), External("abc.ABC")))
"""Classes of libraries that a class may be derived from; a layer of another version may have other attributes."""


def refuse_attribute(machine: Machine, state: State, owner: Value, name: str, found: Value) -> None:
    """Raise if ``owner`` lacks the attribute ``name``; where it does, it is not known what was ``found`` there."""
    match owner:
        case HeapRef() | Function() if isinstance(found, BuiltinMethod) and found.receiver == owner:
            pass
        case Module() if isinstance(found, Unknown):
            pass
        case _:
            return
    if lacks(machine, state, owner, name):
        if _is_final(machine, state, owner, name):
            raise ProgramRaised("AttributeError", f"{_described(state, owner)} has no attribute '{name}'")


def lacks(machine: Machine, state: State, owner: Value, name: str) -> bool:
    """Whether something of the program has no attribute of a name on the path that is followed."""
    return _may_be_judged(machine, state, owner, name) and has(machine, state, owner, name) is False


def _may_be_judged(machine: Machine, state: State, owner: Value, name: str) -> bool:
    """Of objects, those of classes that the program derives from plain ones: the stub of a library has not all that is
    there. No name that Python may answer for.
    """
    thing = state.heap[owner.id] if isinstance(owner, HeapRef) else None
    if thing is None:
        return True
    if not isinstance(thing, Instance) or name.startswith("__") or not isinstance(thing.kind, HeapRef):
        return False
    bases = mro_of(state, thing.kind)
    if any(is_of_stub(machine.imports, state, each) for each in bases if isinstance(each, HeapRef)):
        return False
    return all(isinstance(each, HeapRef) or each in PLAIN_BASES for each in bases)


def _is_final(machine: Machine, state: State, owner: Value, name: str) -> bool:
    """Whether no other path may have bound an attribute of this name. One way through ``__init__`` was followed, and
    one through the body of the class: what may be bound on another is there for all that is known, unless no choice
    was made so far.
    """
    if not isinstance(owner, HeapRef):
        return not may_bind(machine, name)
    if may_bind_any(machine) or not is_whole(machine, state, owner.id):
        return False
    return not (state.path_condition or machine.unit.stats.dropped) or not may_bind(machine, name)


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
