"""What a path still holds: the tensors and objects that values lead to, and the graph a backward from them could walk.

h = net(x)
y = h * 2
h = None      # no code holds the first tensor any more, but the graph below y has its node

What the code that is running can reach: what it does depends on no more than that.

def train_epoch(model, loader):
    for x, y in loader:             # `model`, `loader`, what these hold, the names of the module
        ...
best = 0.0
for epoch in range(10):
    train_epoch(model, loader)      # but not `history`, in the scope of the caller
    history.append(evaluate(model))
"""

from __future__ import annotations

from collections import abc
from collections.abc import Collection, Container, Iterable, Iterator
from typing import Any

from ..autograd import Node
from ..autograd.model.graph_search import nodes_below
from ..frozen import frozen
from .completion import Return
from .state import State
from .traversal import PARTS, contents, entries
from .values import (
    Class,
    Frame,
    Function,
    Generator,
    HeapObject,
    HeapRef,
    Instance,
    Mapping,
    Optimizer,
    Sequence,
    TensorRef,
    Tuple,
    Unknown,
    Value,
)


@frozen
class Reachable:
    """The tensors, and the heap objects, that some code on a path holds."""

    tensors: set[int]
    objects: set[int]


Known = dict[int, tuple[HeapObject, Reachable]]
"""What is in heap objects that no code changes any more, by their number."""
NOTHING = None, Reachable(set(), set())


class JoinPoint:
    """Paths are compared where they meet: what each of them holds is found out once.

    ``live`` are the variables of the running scope that can still be read, where that is known; ``running`` the calls
    that are running, with what they were given; ``known`` is kept from one meeting to the next. ``work`` counts
    comparisons and what was looked at for them, ``forgotten`` is what the last two paths that were joined forgot. One
    that ``is_local`` does not ask about anything beyond reach.
    """

    is_local = False

    def __init__(
        self, live: frozenset[str] | None, running: Collection[tuple[object, tuple[Value, ...]]], known: Known
    ) -> None:
        self.live, self.running, self.known = live, running, known
        self.work = 0
        self.forgotten: abc.Sequence[tuple[int, int, Any]] = ()
        self._held: dict[int, Reachable] = {}
        self._walkable: dict[int, set[Node]] = {}
        self._reached: dict[int, set[int]] = {}

    def reaches(self, state: State, key: int) -> bool:
        """Whether some code on a path may still reach a heap object. Where it is not known what is ``live`` only lists
        and dicts are looked for: what a call has collected in them is of no use when it has returned its result.
        """
        if type(state.heap[key]) not in OBJECTS:
            return True
        if self.live is not None:
            return key in self.reachable(state).objects
        if type(state.heap[key]) not in CONTAINERS:
            return True
        found = self._reached.get(id(state))
        if found is None:
            given = [value for _, values in self.running for value in values]
            found = self._reached[id(state)] = reached(state, given, self.known)
            self.work += 2 * len(state.heap)
        return key in found

    def reachable(self, state: State) -> Reachable:
        """What a path holds; ``live`` is known."""
        found = self._held.get(id(state))
        if found is None:
            assert self.live is not None
            given = [value for _, values in self.running for value in values]
            found = self._held[id(state)] = reachable(state, self.live, given, self.known)
            self.work += 2 * len(state.heap)
        return found

    def held(self, state: State) -> set[int]:
        """The tensors that code on a path may still hold: all variables of the running scope do where it is not known
        which are live.
        """
        if self.live is not None:
            return self.reachable(state).tensors
        given = [value for _, values in self.running for value in values]
        given += (state.completion.value,) if isinstance(state.completion, Return) else ()
        self.work += 2 * len(state.heap)
        return reachable(state, frozenset(state.get(state.frame, Frame).variables), given, self.known).tensors

    def reachable_graph(self, state: State) -> set[Node]:
        found = self._walkable.get(id(state))
        if found is None:
            found = self._walkable[id(state)] = reachable_graph(state, self.live)
            self.work += len(state.heap) + len(found)
        return found


def reachable(state: State, live: frozenset[str], given: Iterable[Value], known: Known) -> Reachable:
    """What anything on the heap holds, but for the variables of the running scope that are not ``live``; and what the
    running calls were ``given``, which the caller still has. What a path does not own is never changed: what is
    in it is looked for once.
    """
    tensors, objects = set[int](), set[int]()
    values: list[Value] = list(given)
    owned, frame = state.owned, state.frame
    for key, thing in state.heap.items():
        if key == frame and isinstance(thing, Frame):
            values += [value for name, value in thing.variables.items() if name in live]
        elif key in owned:
            values += contents(thing, tensors)
        else:
            inside = _inside(key, thing, known)
            if inside.tensors:
                tensors |= inside.tensors
            if inside.objects:
                objects |= inside.objects
    found = Reachable(tensors, objects)
    collect(values, found)
    for tensor in list(tensors):
        record = state.tensors.get(tensor)
        while record is not None and record.base is not None and record.base not in tensors:
            tensors.add(record.base)
            record = state.tensors.get(record.base)
    return found


def _inside(key: int, thing: HeapObject, known: Known) -> Reachable:
    """What is in a heap object that is not changed any more."""
    old, inside = known.get(key, NOTHING)
    if old is thing:
        return inside
    inside = Reachable(set(), set())
    collect(list(contents(thing, inside.tensors)), inside)
    known[key] = thing, inside
    return inside


def reached(state: State, given: Iterable[Value], known: Known) -> set[int]:
    """The heap objects that frames and objects lead to, what the running calls were ``given`` and what is returned:
    a list that only other lists hold, and those by nothing, is not among them.
    """
    found = Reachable(set(), set())
    objects, owned = found.objects, state.owned
    returned = (state.completion.value,) if isinstance(state.completion, Return) else ()
    collect([*given, *returned], found)
    for key, thing in state.heap.items():
        if type(thing) in CONTAINERS:
            continue
        if key in owned:
            collect(list(contents(thing, found.tensors)), found)
        elif (inside := _inside(key, thing, known)).objects:
            objects |= inside.objects
    todo = list(objects)
    for key in todo:  # which grows
        container = state.heap.get(key)
        if isinstance(container, (Sequence, Mapping)):
            inside = Reachable(set(), set())
            collect(list(contents(container, inside.tensors)), inside)
            todo += inside.objects - objects
            objects |= inside.objects
    return objects


def held_beside_optimizers(state: State) -> set[int]:
    """The tensors that scopes lead to by other ways than through optimizers."""
    found = Reachable(set(), set())
    todo = [key for key, thing in state.heap.items() if isinstance(thing, (Frame, Class))]
    for key in todo:  # which grows
        thing = state.heap.get(key)
        if thing is not None and not isinstance(thing, Optimizer):
            todo += _add(state, found, list(contents(thing, found.tensors)))
    return found.tensors


CONTAINERS = frozenset((Sequence, Mapping))
OBJECTS = frozenset((Sequence, Mapping, Instance, Optimizer))


def collect(values: list[Value], found: Reachable) -> None:
    """Add the tensors and objects among ``values`` and in what these are made of."""
    tensors, objects = found.tensors, found.objects
    for value in values:  # which grows
        kind = type(value)
        if kind is HeapRef:
            objects.add(value.id)  # type: ignore[union-attr]
        elif kind is TensorRef:
            tensors.add(value.id)  # type: ignore[union-attr]
        elif kind is Unknown:
            tensors.add(value.tensor_id)  # type: ignore[union-attr]
        elif kind in PARTS:
            values += PARTS[kind](value)


def parts_of(state: State, whole: HeapRef) -> Iterator[tuple[HeapRef, Instance]]:
    """An object and those that it leads to, each of which is of a class of the program."""
    seen, todo = set[int](), [whole.id]
    for key in todo:  # which grows
        thing = state.heap.get(key)
        if key in seen or thing is None or isinstance(thing, (Frame, Class)):
            continue
        seen.add(key)
        if isinstance(thing, Instance):
            yield HeapRef(key), thing
        found = Reachable(set(), set())
        collect(list(contents(thing, found.tensors)), found)
        todo += sorted(found.objects)


def reachable_graph(
    state: State, live: frozenset[str] | None = None, containers: Container[int] | None = None
) -> set[Node]:
    """Every node that a backward from a value the program still holds (of the running scope what is ``live``; of lists
    and dicts those that are among the ``containers``, if they are given) could reach.
    """
    tensors, found = state.tensors, set[Node]()
    for key, thing in state.heap.items():
        if containers is not None and type(thing) in CONTAINERS and key not in containers:
            continue
        for value in _held_values(thing, live if key == state.frame else None):
            if type(value) is TensorRef:
                items: Iterable[Value] = (value,)
            elif type(value) is Tuple:
                items = value.items
            else:
                continue
            for item in items:
                if type(item) is TensorRef and (node := tensors[item.id].grad_fn) is not None:
                    found.add(node)
    return nodes_below(found)


def _held_values(thing: HeapObject, live: frozenset[str] | None) -> Iterable[Value]:
    """The values in a heap object; of the running scope those of the variables that are ``live``."""
    if isinstance(thing, Sequence):
        return thing.items
    if live is None:
        return entries(thing).values()
    return [value for name, value in entries(thing).items() if name in live]


class LocalJoinPoint(JoinPoint):
    """Paths are compared in what the running scope can reach, where of its own variables ``live`` can be read."""

    is_local = True

    def reaches(self, state: State, key: int) -> bool:
        return key == state.frame or key in self.reachable(state).objects

    def reachable(self, state: State) -> Reachable:
        found = self._held.get(id(state))
        if found is None:
            found = self._held[id(state)] = _reachable(state, self.live)
            self.work += 4 * len(found.objects)
        return found

    def reachable_graph(self, state: State) -> set[Node]:
        found = self._walkable.get(id(state))
        if found is None:
            records = (state.tensors.get(key) for key in self.reachable(state).tensors)
            found = nodes_below(
                record.grad_fn for record in records if record is not None and record.grad_fn is not None
            )
            self._walkable[id(state)] = found
            self.work += len(found)
        return found


def _reachable(state: State, live: frozenset[str] | None) -> Reachable:
    """The objects, scopes among them, and tensors that the running scope leads to."""
    found = Reachable(set(), set())
    frame = state.get(state.frame, Frame)
    todo = _add(state, found, [value for name, value in frame.variables.items() if live is None or name in live])
    todo += _around(state, found, frame.parent)
    for key in todo:  # which grows
        if (thing := state.heap.get(key)) is not None:
            todo += _add(state, found, list(contents(thing, found.tensors)))
    for key in list(found.tensors):
        record = state.tensors.get(key)
        while record is not None and record.base is not None and record.base not in found.tensors:
            found.tensors.add(record.base)
            record = state.tensors.get(record.base)
    return found


def _add(state: State, found: Reachable, values: list[Value]) -> list[int]:
    """Add what ``values`` lead to; the objects that are new."""
    direct = Reachable(found.tensors, set())
    collect(values, direct)
    new = list(direct.objects - found.objects)
    found.objects.update(new)
    for value in values:  # and what was collected from them
        if isinstance(value, (Function, Generator)):
            new += _around(state, found, value.frame)
    return new


def _around(state: State, found: Reachable, scope: int) -> list[int]:
    """Add a scope and those around it; which are new."""
    new: list[int] = []
    while scope and scope not in found.objects and scope in state.heap:
        found.objects.add(scope)
        new.append(scope)
        scope = state.get(scope, Frame).parent
    return new
