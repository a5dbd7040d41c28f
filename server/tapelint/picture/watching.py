"""Executes a file once more, and keeps what a picture is made of: the event of a finding, or what an expression was.

A finding is looked for by its rule, which is asked about each event as it is published; an expression by its syntax.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..autograd import Facts, ProgramPoint, Tensor, resolve_view
from ..autograd.events.graph_walks import BackwardRan, Event
from ..autograd.model.tracked_dict import TrackedDict
from ..autograd.state import AutogradState, fresh_id
from ..domain.state import State
from ..domain.traversal import tensors_in
from ..domain.values import Value
from ..frozen import frozen
from ..rules import Finding, Rule, all_rules

SIGHTS = 64
"""How often an expression is looked at."""


@frozen
class Sight:
    """An expression had these tensors, once."""

    point: ProgramPoint
    tensors: tuple[Tensor, ...]
    # The path, which goes on: at the end it holds what has happened since.
    state: AutogradState


@frozen
class Walk:
    """A pass that has ended; ``stamp`` orders it among nodes and writes."""

    stamp: int
    event: BackwardRan
    # What its root was computed by.
    root: Tensor | None


@dataclass(slots=True)
class Watch:
    """Sees one execution; ``finding`` is to be found again, ``wanted`` are expressions."""

    facts: Facts
    finding: Finding | None
    wanted: frozenset[ast.AST]
    event: Event | None = None
    # The path on which the event was published, as it was then.
    moment: AutogradState | None = None
    sights: dict[ast.AST, list[Sight]] = field(default_factory=dict)
    # When each wanted expression was evaluated, in the order of time.
    times: dict[ast.AST, list[tuple[ProgramPoint, int]]] = field(default_factory=dict)
    walks: list[Walk] = field(default_factory=list)
    _state: State | None = None
    _rules: list[Rule] = field(default_factory=list)

    def __post_init__(self) -> None:
        code = self.finding.code if self.finding is not None else None
        self._rules = [rule for rule in all_rules() if rule.code == code and rule.check]
        self.facts.events.subscribe(self.hear)

    def hear(self, event: Event) -> None:
        state = self._state
        if isinstance(event, BackwardRan):
            known = state is not None and event.root in state.tensors
            root = resolve_view(state, event.root) if state is not None and known else None
            self.walks.append(Walk(fresh_id(), event, root))
        if self.event is not None or state is None:
            return
        for rule in self._rules:
            if type(event) in rule.events and rule.check is not None:
                found = rule.check(event, self.facts)
                if found is not None and _is_same(self.finding, found):
                    self.event, self.moment = event, _as_now(state)

    def probe(self, node: ast.AST, state: State, value: Value) -> None:
        """The program calls this for each expression that it has evaluated."""
        self._state = state
        if node in self.wanted:
            known, times = self.sights.setdefault(node, []), self.times.setdefault(node, [])
            if len(times) < SIGHTS:
                times.append((state.point(node), fresh_id()))
            keys = tuple(dict.fromkeys(tensors_in(state, value)))
            if keys and len(known) < SIGHTS:
                known.append(Sight(state.point(node), tuple(resolve_view(state, key) for key in keys), state))


def _as_now(state: AutogradState) -> AutogradState:
    """What is asked of a path later, as it is now. The path itself counts what it touches, and must not notice."""
    now = AutogradState()
    now.tensors, now.writes = TrackedDict(state.tensors), TrackedDict(state.writes)
    now.freed, now.grads, now.untracked_writes = state.freed.copy(), state.grads.copy(), state.untracked_writes.copy()
    now.consumed_passes, now.retained = state.consumed_passes.copy(), state.retained.copy()
    now.history = state.history.copy()
    return now


def _is_same(one: Finding | None, other: Finding) -> bool:
    """Whether two executions have found the same."""
    return one is not None and (one.message, _place(one.node)) == (other.message, _place(other.node))


def _place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def expressions(tree: ast.AST, row: int) -> Iterable[ast.expr]:
    """The expressions that begin in a row, the outermost first."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.expr) and node.lineno == row]
    return sorted(found, key=lambda node: (-(node.end_lineno or 0), -(node.end_col_offset or 0) + node.col_offset))
