"""What names and attributes hold, without running any code: no property, no ``__getattr__``, nothing that is reported.

except self.errors:        what a handler names is evaluated only when something is raised
lap.fit(loader)            the object of a call that has been evaluated
"""

from __future__ import annotations

import ast

from ..domain.mro import lookup_in_mro
from ..domain.state import State
from ..domain.values import Class, External, HeapRef, Instance, Module, Value
from .machine import Machine


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
