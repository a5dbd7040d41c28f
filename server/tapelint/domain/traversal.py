"""What a value holds, directly or in containers."""

from __future__ import annotations

from collections.abc import Iterator

from .state import State
from .values import HeapRef, Mapping, Sequence, TensorRef, Tuple, Value


def tensors_in(state: State, value: Value, depth: int = 3) -> Iterator[int]:
    """The tensors a value holds, directly or in containers a few levels deep."""
    if isinstance(value, TensorRef):
        yield value.id
    elif depth and isinstance(value, Tuple):
        for item in value.items:
            yield from tensors_in(state, item, depth - 1)
    elif depth and isinstance(value, HeapRef):
        thing = state.heap[value.id]
        if isinstance(thing, Sequence):
            for item in thing.items:
                yield from tensors_in(state, item, depth - 1)
        elif isinstance(thing, Mapping):
            for item in thing.items.values():
                yield from tensors_in(state, item, depth - 1)
