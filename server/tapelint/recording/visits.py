"""How an execution has come to statements, and where values became unknown.

out = unet(x)             `out` is unknown: the call was not executed
loss = out.sample.sum()   made of `out`
loss.backward()           reads `loss`
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ..domain.state import State
from ..domain.values import TensorRef, Unknown
from ..engine.observer import Decided, DecideReason, Decision, Opaque
from ..engine.statistics import Entry
from .names import Place, places, read_by, value_at


@dataclass(slots=True, eq=False)
class Visit:
    """A statement on a path: the unknown tensors and values that it reads, by name, and its calls that were not
    executed.
    """

    statement: ast.stmt
    unknown: dict[str, int]
    opaque: list[Opaque] = field(default_factory=list)


class Visits:
    """Observes one execution. ``first`` is how it came to each statement for the first time, ``made`` says for each
    unknown value which statement has bound it first.
    """

    def __init__(self) -> None:
        self.first: dict[ast.stmt, Visit] = {}
        self.made: dict[int, Visit] = {}
        # Why tests went one way.
        self.decided: dict[ast.expr, set[DecideReason]] = {}
        self._running: list[Visit] = []

    def enter(self, entry: Entry) -> None:
        """Execution starts at an entry point, or goes on with it."""

    def begin(self, statement: ast.stmt, state: State) -> None:
        """A statement is executed on a path."""
        visit = Visit(statement, dict(_unknown(state, read_by(statement))))
        self._running.append(visit)
        self.first.setdefault(statement, visit)

    def end(self, statement: ast.stmt, states: list[State]) -> None:
        """It has ended in ``states``."""
        while self._running and self._running[-1].statement is not statement:
            self._running.pop()
        if not self._running:
            return
        visit = self._running.pop()
        for state in states:
            for _, key in _unknown(state, places(statement)[0]):
                self.made.setdefault(key, visit)

    def decide(self, decision: Decision) -> None:
        """The machine has decided what is executed next."""
        if isinstance(decision, Opaque) and self._running:
            self._running[-1].opaque.append(decision)
        elif isinstance(decision, Decided):
            self.decided.setdefault(decision.test, set()).add(decision.reason)


def _unknown(state: State, named: Mapping[str, Place]) -> Iterator[tuple[str, int]]:
    """The names of values of which it is not known whether they have a graph, with what tells the values apart."""
    for name, place in named.items():
        match value_at(state, place):
            case Unknown(tensor_id=key):
                yield name, key
            case TensorRef(id=key) if key in state.tensors and state.tensors[key].requires_grad is None:
                yield name, key
