"""The classes of exceptions, as they are compared: a class of Python or of a library by its name, one of the program by
its object as well. It may have the name of another.

except (OSError, Failed)      "OSError", "Failed@12"
raise Failed()                "Failed@12", "Exception", "object": what it is derived from
"""

from __future__ import annotations

import builtins

from .mro import mro_of
from .state import State
from .values import Class, External, HeapRef, Instance, Tuple, Value

ANYTHING = "BaseException"


def kinds_of(state: State, value: Value) -> tuple[str, ...]:
    """The classes that a value names: one, or those of a tuple; all of them where it is not known."""
    if isinstance(value, Tuple):
        return tuple(kind for item in value.items for kind in kinds_of(state, item))
    return (_kind(state, value) or ANYTHING,)


def is_exception(state: State, value: Value) -> bool:
    """Whether a value is a class of exceptions, or a tuple of such, for certain."""
    if isinstance(value, Tuple):
        return bool(value.items) and all(is_exception(state, item) for item in value.items)
    bases = (each.name.rpartition(".") for each in mro_of(state, value) if isinstance(each, External))
    python = (getattr(builtins, last, None) for owner, _, last in bases if owner in ("", "builtins"))
    return any(isinstance(kind, type) and issubclass(kind, BaseException) for kind in python)


def raised_kinds(state: State, value: Value) -> tuple[str, ...]:
    """The class of an exception, or of what is raised as a class, and those that it is derived from, as far as they are
    known.
    """
    if isinstance(value, HeapRef) and isinstance(instance := state.heap[value.id], Instance):
        value = instance.kind
    return tuple(kind for each in mro_of(state, value) if (kind := _kind(state, each)) is not None)


def name_of(kind: str) -> str:
    """What the program calls a class."""
    return kind.partition("@")[0]


def _kind(state: State, value: Value) -> str | None:
    match value:
        case External(name=name):
            last = name.rpartition(".")[2]
            return str(getattr(getattr(builtins, last, None), "__name__", last))  # `IOError` is `OSError`
        case HeapRef(id=place) if isinstance(owner := state.heap[place], Class):
            return f"{owner.name}@{place}"
    return None
