"""What Python raises where a value is used as what it is not: the path ends there.

a, b = None            TypeError
a, b = 1, 2, 3         ValueError, and so for the sizes of a tensor
for x in 1: ...        TypeError
for x in Options()     TypeError: a class of the program that says nothing of iteration
loss(output)           TypeError where `loss` is a tensor
torch.tensor(1.0)[0]   IndexError

Only a tuple that the program spells out has a length for certain: what a loop fills, or unknown code makes, may be of
any other.
"""

from __future__ import annotations

from ...autograd import resolve_view
from ...domain.completion import ProgramRaised
from ...domain.mro import mro_of
from ...domain.state import State
from ...domain.values import (
    BoundMethod,
    Class,
    Const,
    External,
    Function,
    HeapRef,
    Instance,
    Mapping,
    Sequence,
    TensorRef,
    Tuple,
    UnwrittenResult,
    Value,
)


def refuse_iteration(state: State, value: Value) -> None:
    """Raise where Python cannot iterate over ``value``."""
    name = _not_iterable(state, value)
    if name is not None:
        raise ProgramRaised("TypeError", f"'{name}' object is not iterable")
    if _sizes(state, value) == ():
        raise ProgramRaised("TypeError", "iteration over a 0-d tensor", by_torch=True)


def refuse_unpacking(state: State, value: Value, wanted: int, at_least: bool) -> None:
    """Raise where ``value`` does not have as many items as there are names, or does not have any."""
    name = _not_iterable(state, value)
    if name is not None:
        raise ProgramRaised("TypeError", f"cannot unpack non-iterable {name} object")
    refuse_iteration(state, value)
    count = len(value.items) if isinstance(value, Tuple) and value.is_spelled else _rows(state, value)
    if count is not None and (count < wanted or count > wanted and not at_least):
        few = f"not enough values to unpack (expected {wanted}, got {count})"
        raise ProgramRaised("ValueError", few if count < wanted else f"too many values to unpack (expected {wanted})")


def refuse_item(state: State, value: Value, index: Value) -> None:
    """Raise where a tuple is not that long, and where a tensor has no dimensions."""
    place = index.value if isinstance(index, Const) and isinstance(index.value, int) else None
    if place is None or isinstance(place, bool):
        return
    if isinstance(value, Tuple) and value.is_spelled and not -len(value.items) <= place < len(value.items):
        raise ProgramRaised("IndexError", "tuple index out of range")
    sizes = _sizes(state, value)
    if sizes == ():
        raise ProgramRaised("IndexError", "invalid index of a 0-dim tensor", by_torch=True)


def refuse_call(state: State, value: Value) -> None:
    """Raise where Python cannot call ``value``."""
    name = _not_callable(state, value)
    if name is not None:
        raise ProgramRaised("TypeError", f"'{name}' object is not callable")


def _not_callable(state: State, value: Value) -> str | None:
    """The name of the class of what cannot be called."""
    match value:
        case Tuple():
            return "tuple"
        case TensorRef():
            tensor = resolve_view(state, value.id)
            is_open = tensor.assumption or tensor.stands_for_module or tensor.requires_grad is None
            return None if is_open else "Tensor"
        case HeapRef():
            match state.heap[value.id]:
                case Sequence(kind=("list" | "set" | "frozenset" | "deque") as kind):
                    return kind
                case Mapping(kind="dict"):
                    return "dict"
            return _plain_class(state, value, CALLING)
        case _:
            return None


CALLING = frozenset(("__call__", "forward"))
ITERATING = frozenset(("__iter__", "__getitem__", "__next__"))
MODULE: frozenset[Value] = frozenset((External("torch.nn.Module"),))
PLAIN_BASES = frozenset(map(External, ("builtins.object", "abc.ABC")))
"""Classes of libraries whose objects can neither be called nor iterated over."""


def _plain_class(
    state: State, value: HeapRef, lacking: frozenset[str], also: frozenset[Value] = frozenset()
) -> str | None:
    """The name of the class of an object of the program, if neither that nor one of its bases, all of them known, has
    one of the methods that it is ``lacking``.
    """
    thing = state.heap[value.id]
    if not isinstance(thing, Instance) or thing.is_partial or not isinstance(thing.kind, HeapRef):
        return None
    for base in mro_of(state, thing.kind):
        kind = state.heap[base.id] if isinstance(base, HeapRef) else None
        if isinstance(kind, Class):
            if kind.node.decorator_list or kind.node.keywords or not lacking.isdisjoint(kind.attributes):
                return None
        elif base not in PLAIN_BASES and base not in also:
            return None
    return state.get(thing.kind.id, Class).name


def _not_iterable(state: State, value: Value) -> str | None:
    """The name of the class of what is no iterable."""
    match value:
        case UnwrittenResult():
            return None
        case Const(plain):
            return None if hasattr(plain, "__iter__") else type(plain).__name__
        case Function():
            return "function"
        case BoundMethod(Function()):
            return "method"
        case HeapRef():
            return _plain_class(state, value, ITERATING, MODULE)
        case _:
            return None


def _sizes(state: State, value: Value) -> tuple[int | None, ...] | None:
    if not isinstance(value, TensorRef) or (tensor := resolve_view(state, value.id)).assumption:
        return None
    return tensor.sizes if isinstance(tensor.sizes, tuple) else None


def _rows(state: State, value: Value) -> int | None:
    """How many items a tensor is iterated over in."""
    sizes = _sizes(state, value)
    return sizes[0] if sizes else None
