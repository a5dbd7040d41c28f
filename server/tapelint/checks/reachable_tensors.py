"""Which tensors the running scope, or some values, lead to by items and attributes."""

from __future__ import annotations

from collections.abc import Iterator

from ..bounds import BOUNDS
from ..domain.state import State
from ..domain.values import Frame, HeapRef, Instance, Mapping, Sequence, TensorRef, Tuple, Value


def lists_of_containers(state: State) -> Iterator[list[Value]]:
    """The lists that the running scope can reach, of which every item is a container; but those that drop their oldest
    items.
    """
    seen: set[int] = set()
    frontier = variables_in_scope(state)
    while frontier and len(seen) < BOUNDS.holders:
        value = frontier.pop()
        inside = values_inside(state, value, seen)
        thing = state.heap[value.id] if isinstance(value, HeapRef) else None
        if isinstance(thing, Sequence) and thing.limit is None and inside:
            if all(isinstance(item, (Tuple, HeapRef)) for item in inside):
                yield inside
        frontier += [item for item in inside if not isinstance(item, TensorRef)]


def holders_of_tensors(state: State) -> dict[int, list[int]]:
    """The tensors that the running scope can reach, by gradients too, and for each the others that lie in the same
    container.
    """
    found: dict[int, list[int]] = {}
    seen: set[int] = set()
    frontier = variables_in_scope(state)
    while frontier and len(seen) < BOUNDS.holders:
        value = frontier.pop()
        inside = values_inside(state, value, seen)
        beside = [item.id for item in inside if isinstance(item, TensorRef)]
        if isinstance(value, TensorRef):
            found.setdefault(value.id, [])
        for tensor in beside:
            found[tensor] = beside
        frontier += [item for item in inside if not isinstance(item, TensorRef)]
    return {state.grads[key]: [] for key in found if key in state.grads} | found


def variables_in_scope(state: State) -> list[Value]:
    """The variables that the running code can name."""
    found: list[Value] = []
    key = state.frame
    while key:
        frame = state.get(key, Frame)
        found += frame.variables.values()
        key = frame.parent
    return found


def held_tensors(state: State, *values: Value) -> set[int] | None:
    """All tensors that ``values`` lead to; None where there are too many things to look at."""
    found: set[int] = set()
    seen: set[int] = set()
    frontier = list(values)
    while frontier:
        if len(seen) > BOUNDS.compared_values:
            return None
        item = frontier.pop()
        if isinstance(item, TensorRef):
            found.add(item.id)
        frontier += values_inside(state, item, seen)
    return found


def values_inside(state: State, value: Value, seen: set[int]) -> list[Value]:
    """What a container or an object holds, the first time it is met."""
    if isinstance(value, Tuple):
        return list(value.items)
    if not isinstance(value, HeapRef) or value.id in seen:
        return []
    seen.add(value.id)
    thing = state.heap[value.id]
    if isinstance(thing, Sequence):
        return list(thing.items)
    if isinstance(thing, Mapping):
        return thing.surely_held()
    return list(thing.attributes.values()) if isinstance(thing, Instance) else []
