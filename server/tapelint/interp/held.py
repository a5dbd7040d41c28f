"""What a path still holds: the tensors and objects that values lead to, and the graph a backward from them could walk.

h = net(x)
y = h * 2
h = None      # nobody holds the first tensor any more, but the graph below y has its node
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..tape import Node, State
from .values import (
    Bound,
    Class,
    Const,
    Frame,
    Function,
    Generator,
    Instance,
    Lib,
    Mapping,
    Method,
    Optimizer,
    Partial,
    Ref,
    Sequence,
    Slice,
    Super,
    TensorRef,
    Tuple,
    Unknown,
    Value,
    Zip,
)


@dataclass(frozen=True, slots=True)
class Held:
    """The tensors, and the heap objects, that somebody on a path holds."""

    tensors: set[int]
    objects: set[int]


def entries(thing: Any) -> dict[Any, Value]:
    """What a heap object holds by name or key."""
    if isinstance(thing, Frame):
        return thing.variables
    return thing.attributes if isinstance(thing, Instance) else thing.items if isinstance(thing, Mapping) else {}


class Meeting:
    """Paths are compared where they meet: what each of them holds is found out once.

    ``live`` are the variables of the running scope that can still be read, where that is known; ``given`` is what the
    running calls were given. ``work`` counts comparisons and what was looked at for them.
    """

    def __init__(self, live: frozenset[str] | None = None, given: tuple[Value, ...] = ()) -> None:
        self.live, self.given = live, given
        self.work = 0
        self._held: dict[int, Held] = {}
        self._walkable: dict[int, set[Node]] = {}

    def held(self, state: State) -> Held:
        """What a path holds; ``live`` is known."""
        found = self._held.get(id(state))
        if found is None:
            assert self.live is not None
            found = self._held[id(state)] = held(state, self.live, self.given)
            self.work += 2 * len(state.heap)
        return found

    def walkable(self, state: State) -> set[Node]:
        found = self._walkable.get(id(state))
        if found is None:
            found = self._walkable[id(state)] = walkable(state, self.live)
            self.work += len(state.heap) + len(found)
        return found


def held(state: State, live: frozenset[str], given: Iterable[Value]) -> Held:
    """What anything on the heap holds, but for the variables of the running scope that are not ``live``; and what the
    running calls were ``given``, which whoever called still has.
    """
    found = Held(set(), set())
    todo: list[Value] = list(given)
    for key, thing in state.heap.items():
        if isinstance(thing, Sequence):
            todo += thing.items
        elif key == state.frame:
            todo += [value for name, value in thing.variables.items() if name in live]
        elif isinstance(thing, Optimizer):
            found.tensors.update(thing.params)
        elif isinstance(thing, Class):
            todo += thing.attributes.values()
        else:
            todo += entries(thing).values()
    while todo:
        value = todo.pop()
        kind = type(value)
        if kind is TensorRef:
            found.tensors.add(value.id)  # type: ignore[union-attr]
        elif kind is Unknown:
            found.tensors.add(value.tensor)  # type: ignore[union-attr]
        elif kind is Ref:
            found.objects.add(value.id)  # type: ignore[union-attr]
        elif kind is not Const and kind is not Lib:
            todo += _parts(value)
    for tensor in list(found.tensors):
        record = state.tensors.get(tensor)
        while record is not None and record.base is not None and record.base not in found.tensors:
            found.tensors.add(record.base)
            record = state.tensors.get(record.base)
    return found


def _parts(value: Value) -> Iterable[Value]:
    if isinstance(value, Tuple):
        return value.items
    if isinstance(value, Bound):
        return value.function, value.receiver
    if isinstance(value, (Method, Super)):
        return (value.receiver,)
    if isinstance(value, Partial):
        return value.function, *value.args, *(item for _, item in value.kwargs)
    if isinstance(value, Function):
        return *value.defaults, *(item for _, item in value.keyword_defaults)
    if isinstance(value, Slice):
        return value.start, value.stop, value.step
    if isinstance(value, Generator):
        return (value.function,) if value.function is not None else ()
    return value.parts if isinstance(value, Zip) else ()


def walkable(state: State, live: frozenset[str] | None = None) -> set[Node]:
    """Every node that a backward from a value the program still holds (of the running scope what is ``live``) could
    reach.
    """
    tensors, found = state.tensors, set[Node]()
    for key, thing in state.heap.items():
        values = thing.items if isinstance(thing, Sequence) else entries(thing).values()
        if live is not None and key == state.frame:
            values = [value for name, value in thing.variables.items() if name in live]
        for value in values:
            kind = type(value)
            if kind is TensorRef or kind is Tuple:
                for item in value.items if kind is Tuple else (value,):
                    if type(item) is TensorRef and (node := tensors[item.id].grad_fn) is not None:
                        found.add(node)
    todo = list(found)
    while todo:
        for item in todo.pop().inputs:
            if type(item) is Node and item not in found:
                found.add(item)
                todo.append(item)
    return found
