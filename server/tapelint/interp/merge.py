"""When two paths are the same path: equal in all that autograd cares about.

    if verbose:
        count = count + 1     # the two sides differ in a number: they are merged, and the number is forgotten

Differences in plain values (numbers, text, things unknown) are forgotten; a difference in a tensor, a version, a gradient or the
grad mode keeps the paths apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..tape import Node, State, Write
from .values import NONE, Const, Frame, Instance, Mapping, Sequence, TensorRef, Tuple, Unknown, Value

PLAIN = (Const, Unknown)


def merged(state: State, other: State, saved: set[int]) -> bool:
    """Whether ``state`` adds nothing to ``other``; if so ``other`` has forgotten what they did not agree on.

    ``saved`` are the version counters some node has ever saved: how often any other was written cannot matter any more.
    """
    if (
        state.signal != other.signal
        or state.grad_mode != other.grad_mode
        or state.laps != other.laps
        or state.frame != other.frame
        or state.grads.keys() != other.grads.keys()
        or state.signal in ("return", "raise") and state.value is not other.value and state.value != other.value
    ):
        return False
    theirs = other.heap
    changes: list[tuple[int, list[Any]]] = []
    for key, mine in state.heap.items():
        yours = theirs.get(key)
        if yours is None or mine is yours:
            continue
        difference = _difference(mine, yours)
        if difference is None:
            return False
        if difference:
            changes.append((key, difference))
    for key, tensor in state.tensors.items():
        if other.tensors.get(key, tensor) is not tensor:
            return False
    if not _same_graphs(state, other, saved):
        return False
    for key, names in changes:
        _forget(other.edit(key), names)
    if state.choices != other.choices:
        for choice in [c for c, taken in other.choices.items() if state.choices.get(c) != taken]:
            del other.choices[choice]
    return True


def _same_graphs(state: State, other: State, saved: set[int]) -> bool:
    """Whether the graphs that can still be walked are freed and spoiled alike. The values the two paths hold are equal already."""
    spoiled = _differ(state.writes, other.writes) & saved
    freed = state.freed.keys() ^ other.freed.keys()
    if not spoiled and not freed:
        return True
    for node in walkable(state):
        if node in freed or node not in state.freed and any(item.counter in spoiled for item in node.saved):
            return False
    return True


def walkable(state: State) -> set[Node]:
    """Every node that a backward from a value the program still holds could reach."""
    todo: list[Node] = []
    for thing in state.heap.values():
        for value in _held(thing):
            if isinstance(value, TensorRef) and (node := state.tensors[value.id].grad_fn) is not None:
                todo.append(node)
            elif isinstance(value, Tuple):
                todo += [n for i in value.items if isinstance(i, TensorRef) and (n := state.tensors[i.id].grad_fn) is not None]
    found: set[Node] = set()
    while todo:
        node = todo.pop()
        if node not in found:
            found.add(node)
            todo += [item for item in node.inputs if isinstance(item, Node)]
    return found


def _held(thing: Any) -> Iterable[Value]:
    if isinstance(thing, Sequence):
        return thing.items
    entries = _entries(thing, thing)
    return entries[0].values() if entries is not None else ()


def _differ(left: dict[int, Write], right: dict[int, Write]) -> set[int]:
    return {key for key in left.keys() | right.keys() if left.get(key) is not right.get(key)}


def _difference(mine: Any, yours: Any) -> list[Any] | None:
    """The names in which two versions of an object differ, plainly; None where they differ in more than that."""
    if type(mine) is not type(yours):
        return None
    if isinstance(mine, Sequence):
        if mine.items == yours.items:
            return [] if mine.open == yours.open else [True]
        return [True] if all(isinstance(i, PLAIN) for i in (*mine.items, *yours.items)) else None
    pairs = _entries(mine, yours)
    if pairs is None:
        return [] if mine == yours else None
    left, right = pairs
    if left == right:
        return []
    names = []
    for name in left.keys() | right.keys():
        one: Value = left.get(name, NONE)
        two: Value = right.get(name, NONE)
        if one is two or one == two:
            continue
        if not isinstance(one, PLAIN) or not isinstance(two, PLAIN):
            return None
        names.append(name)
    return names


def _entries(mine: Any, yours: Any) -> tuple[dict[Any, Value], dict[Any, Value]] | None:
    if isinstance(mine, Frame):
        return mine.variables, yours.variables
    if isinstance(mine, Instance):
        return mine.attributes, yours.attributes
    if isinstance(mine, Mapping):
        return mine.items, yours.items
    return None


def _forget(thing: Any, names: list[Any]) -> None:
    if isinstance(thing, Sequence):
        thing.open = True
    elif isinstance(thing, Mapping):
        thing.open = True
        for name in names:
            thing.items.pop(name, None)
    else:
        entries = thing.variables if isinstance(thing, Frame) else thing.attributes
        for name in names:
            entries[name] = Unknown(str(name))
