"""What the code that is running can reach: what it does depends on no more than that.

def train_epoch(model, loader):
    for x, y in loader:             # `model`, `loader`, what these hold, the names of the module
        ...
best = 0.0
for epoch in range(10):
    train_epoch(model, loader)      # but not `history`, in the scope of the caller
    history.append(evaluate(model))
"""

from __future__ import annotations

from ..autograd import Node
from ..autograd.model.graph_search import nodes_below
from .reachability import JoinPoint, Reachable, collect
from .state import State
from .traversal import contents
from .values import Frame, Function, Generator, Value


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
