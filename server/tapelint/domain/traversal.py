"""What a value holds, directly or in containers."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence as SequenceType

from .state import State
from .values import HeapRef, Mapping, Sequence, TensorRef, Tuple, Value


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
