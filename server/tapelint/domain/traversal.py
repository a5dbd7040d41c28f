"""What a value holds, directly or in containers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Sequence as SequenceType
from typing import Any

from .state import State
from .values import (
    BoundMethod,
    BuiltinMethod,
    Class,
    Due,
    Frame,
    Function,
    Generator,
    HeapObject,
    HeapRef,
    Instance,
    Mapping,
    Optimizer,
    Partial,
    Sequence,
    Slice,
    Super,
    TensorRef,
    Tuple,
    Value,
    Zip,
)


def listed(state: State, value: Value) -> SequenceType[Value] | None:
    """The items of a tuple or a list, as far as they are known; None of what is neither."""
    thing = state.heap[value.id] if isinstance(value, HeapRef) else value
    return thing.items if isinstance(thing, (Tuple, Sequence)) else None


def tensors_in(state: State, value: Value, depth: int = 3) -> Iterator[int]:
    """The tensors a value holds, directly or in containers a few levels deep."""
    if isinstance(value, TensorRef):
        yield value.id
    elif depth and isinstance(value, (Tuple, HeapRef)):
        thing = state.heap[value.id] if isinstance(value, HeapRef) else value
        held = thing.items.values() if isinstance(thing, Mapping) else listed(state, value) or ()
        for item in held:
            yield from tensors_in(state, item, depth - 1)


def entries(thing: HeapObject | None) -> dict[Any, Value]:
    """What a heap object holds by name or key."""
    if isinstance(thing, Frame):
        return thing.variables
    if isinstance(thing, (Instance, Class)):
        return thing.attributes
    return thing.items if isinstance(thing, Mapping) else {}


def contents(thing: HeapObject, tensors: set[int]) -> Iterable[Value]:
    """The values in a heap object; what it knows by number is added to ``tensors``."""
    if isinstance(thing, Optimizer):
        tensors.update(thing.params)
    find = _CONTENTS.get(type(thing))
    return find(thing) if find is not None else ()


_CONTENTS: dict[type, Callable[[Any], Iterable[Value]]] = {
    Frame: lambda frame: frame.variables.values(),
    Instance: lambda instance: instance.attributes.values(),
    Class: lambda owner: owner.attributes.values(),
    Sequence: lambda sequence: sequence.items,
    Mapping: lambda mapping: mapping.items.values(),
}


PARTS: dict[type, Callable[[Any], Iterable[Value]]] = {
    Tuple: lambda value: value.items,
    BoundMethod: lambda value: (value.function, value.receiver),
    BuiltinMethod: lambda value: (value.receiver,),
    Super: lambda value: (value.receiver,),
    Partial: lambda value: (value.function, *value.args, *(item for _, item in value.kwargs)),
    Function: lambda value: (*value.defaults, *(item for _, item in value.keyword_defaults)),
    Slice: lambda value: (value.start, value.stop, value.step),
    Generator: lambda value: () if value.function is None else (value.function,),
    Zip: lambda value: value.parts,
    Due: lambda value: (value.receiver,),
}
"""What a value is made of that is no heap object."""


def holds_generator(value: Value) -> bool:
    """Whether a value is a generator, or what iterates over one."""
    values = [value]
    for part in values:  # which grows
        kind = type(part)
        if kind is Generator:
            return True
        if kind in PARTS:
            values += PARTS[kind](part)
    return False
