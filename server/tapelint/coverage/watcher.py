"""Where unknown values come from, seen while a file is executed.

out = unet(x)             `out` is unknown: the call was not executed
loss = out.sample.sum()   made of `out`
loss.backward()           reads `loss`
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..domain.state import State
from ..domain.values import TensorRef, Unknown, Value
from ..engine.machine import Machine
from ..engine.observer import Decision, Opaque
from ..engine.statistics import Entry
from ..source import cached_on_node
from ..trace.names import places, value_at


@dataclass(slots=True, eq=False)
class Passage:
    """A statement on a path: the unknown tensors and values that it reads, by name, and its calls that were not
    executed.
    """

    statement: ast.stmt
    reads: dict[str, int]
    opaque: list[Opaque] = field(default_factory=list)


class Watcher:
    """Observes one execution. ``made`` says for each unknown value which statement bound it first, ``passages`` how
    each statement was passed for the first time.
    """

    def __init__(self, machine: Machine) -> None:
        self.made: dict[int, Passage] = {}
        self.passages: dict[ast.stmt, Passage] = {}
        self._running: list[Passage] = []
        machine.observer = self

    def enter(self, entry: Entry) -> None:
        """Execution starts at an entry point, or goes on with it."""

    def begin(self, statement: ast.stmt, state: State) -> None:
        """A statement is executed on a path."""
        passage = Passage(statement, dict(_unknown(state, _read(statement))))
        self._running.append(passage)
        self.passages.setdefault(statement, passage)

    def end(self, statement: ast.stmt, states: list[State]) -> None:
        """It has ended in ``states``."""
        while self._running and self._running[-1].statement is not statement:
            self._running.pop()
        if not self._running:
            return
        passage = self._running.pop()
        for state in states:
            for _, key in _unknown(state, places(statement)[0]):
                self.made.setdefault(key, passage)

    def decide(self, decision: Decision) -> None:
        """The machine has decided what is executed next."""
        if isinstance(decision, Opaque) and self._running:
            self._running[-1].opaque.append(decision)


@cached_on_node
def _read(statement: ast.AST) -> dict[str, ast.Name | ast.Attribute]:
    """What a statement reads, by how it is written, also what it then binds anew (``loss = loss.mean()``)."""
    bound, read = places(statement)
    loaded = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    is_in_place = isinstance(statement, ast.AugAssign)
    return {**{name: place for name, place in bound.items() if is_in_place or name in loaded}, **read}


def _unknown(state: State, named: dict[str, ast.Name | ast.Attribute]) -> Iterator[tuple[str, int]]:
    """The names of values of which it is not known whether they have a graph, with what tells the values apart."""
    for name, place in named.items():
        key = _key(state, value_at(state, place))
        if key is not None:
            yield name, key


def _key(state: State, value: Value | None) -> int | None:
    match value:
        case Unknown(tensor_id=key):
            return key
        case TensorRef(id=key) if key in state.tensors and state.tensors[key].requires_grad is None:
            return key
    return None
