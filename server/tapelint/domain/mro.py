"""The classes that an attribute of an object is looked for in, and the fields that they give a dataclass.

class Base(nn.Module): ...
class Net(Base): ...          Net, Base, torch.nn.Module

The classes of exceptions, as they are compared: a class of Python or of a library by its name, one of the program by
its object as well. It may have the name of another.

except (OSError, Failed)      "OSError", "Failed@12"
raise Failed()                "Failed@12", "Exception", "object": what it is derived from
"""

from __future__ import annotations

import ast
import builtins

from ..bounds import BOUNDS
from ..ops.module_names import is_layer
from .state import State
from .values import NONE, BoundMethod, Class, External, Function, HeapRef, Instance, Tuple, Value

OBJECT = External("builtins.object")
WITHOUT_METHODS = frozenset((OBJECT, External("abc.ABC"), External("typing.Generic"), External("typing.Protocol")))
"""Classes of Python that give an object no method but those that every object has."""


def mro_of(state: State, kind: Value) -> list[Value]:
    """The classes to look in, most derived first (a depth-first approximation of the MRO, each class at its last
    place).
    """
    if not isinstance(kind, HeapRef):
        return [kind]
    owner = state.heap[kind.id]
    if not isinstance(owner, Class):
        return [kind]
    if owner.order is None:
        order: list[Value] = []
        _visit(state, kind, 0, order)
        owner.order = [item for index, item in enumerate(order) if item not in order[index + 1 :]]
    return owner.order


def _visit(state: State, item: Value, depth: int, order: list[Value]) -> None:
    order.append(item)
    if isinstance(item, HeapRef) and depth < BOUNDS.bases_depth and isinstance(thing := state.heap[item.id], Class):
        for base in thing.bases:
            _visit(state, base, depth + 1, order)


def lookup_in_mro(
    state: State, kind: Value, name: str, after: Value | None = None
) -> tuple[Value, Value | None] | None:
    """The first class that defines ``name``, of those that come ``after`` one, and as what; what a library class
    defines is None: any of them may define it.
    """
    if type(kind) is External:
        return (kind, None) if kind.name != OBJECT.name else None
    order = mro_of(state, kind)
    if after is not None:
        order = order[order.index(after) + 1 if after in order else 0 :]
    for item in order:
        if isinstance(item, HeapRef) and isinstance(thing := state.heap[item.id], Class):
            value = thing.attributes.get(name)
            if value is not None:
                return item, value
        elif item not in WITHOUT_METHODS:
            return item, None
    return None


def own_function(state: State, kind: Value, name: str) -> Function | None:
    """What a class has under ``name``, if the program defines it as a function."""
    found = lookup_in_mro(state, kind, name)
    return found[1] if found is not None and isinstance(found[1], Function) else None


def own_method(state: State, receiver: Value, name: str) -> Value | None:
    """A method that the program defines for ``receiver``, bound to it."""
    if not isinstance(receiver, HeapRef) or not isinstance(thing := state.heap[receiver.id], Instance):
        return None
    own = thing.attributes.get(name)
    if own is not None:
        return own
    function = own_function(state, thing.kind, name)
    return BoundMethod(function, receiver) if function is not None else None


def plain_method(state: State, instance: HeapRef, name: str) -> BoundMethod | None:
    """A method of an object, if a class of the program defines it as a plain one."""
    own = own_method(state, instance, name)
    if isinstance(own, BoundMethod) and isinstance(own.function, Function) and not own.function.kind:
        return own
    return None


FUNCTION = frozenset(
    ("torch.autograd.Function", "torch.autograd.function.Function", "torch.autograd.function.InplaceFunction")
)
"""``torch.autograd.Function`` by both of its names, and what derives from it in the same module."""


def is_function(state: State, kind: Value) -> bool:
    """Whether a class derives from ``torch.autograd.Function``."""
    return any(isinstance(base, External) and base.name in FUNCTION for base in mro_of(state, kind))


def is_module(state: State, kind: Value) -> bool:
    """Whether instances of ``kind`` are ``nn.Module``s for certain."""
    for base in mro_of(state, kind):
        if isinstance(base, External) and is_layer(base.name):
            return True
    return False


def dataclass_fields(state: State, order: list[Value]) -> dict[str, tuple[Value | None, ast.expr, int]]:
    """The annotated fields of a dataclass in order, base classes first: default, annotation and the scope of both."""
    found: dict[str, tuple[Value | None, ast.expr, int]] = {}
    for kind in reversed(order):
        if not isinstance(kind, HeapRef):
            continue
        owner = state.get(kind.id, Class)
        for item in owner.node.body:
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                name = item.target.id
                default = owner.attributes.get(name, NONE) if item.value is not None else None
                found[name] = default, item.annotation, owner.scope
    return found


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
