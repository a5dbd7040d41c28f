"""What the machine executes and decides, for an observer such as ``tapelint trace``.

    if flag:            Forked: the truth of `flag` is unknown
        n = 1
    else:
        n = 2           Joined: the two paths are one again, and `n` is havocked

A machine without an observer pays one comparison with None for each statement and each decision.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from ..domain.equivalence import Change
from ..domain.state import State
from ..domain.values import Value
from .statistics import Entry, Lost


@dataclass(frozen=True, slots=True)
class Forked:
    """The condition ``test`` is unknown: it holds on ``state`` and not on ``other``."""

    test: ast.AST
    state: State
    other: State
    # By which `State.path_condition` knows it; None where its truth is not remembered.
    formula: Hashable = None
    # Whether the formula is the negation of the test.
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Outcomes:
    """A call ended in several states. ``state`` goes on as ``first``; the statement is finished on each of the
    ``others`` afterwards.
    """

    state: State
    first: State
    others: tuple[State, ...]


@dataclass(frozen=True, slots=True)
class Joined:
    """``state`` was equivalent to ``other`` and is not executed any further; ``other`` goes on without ``forgotten``.
    Names are of the running scope where ``live`` is known.
    """

    state: State
    other: State
    forgotten: tuple[Change, ...]
    live: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class KeptApart:
    """These paths have met and are not equivalent: all of them go on."""

    states: tuple[State, ...]


class DropReason(Enum):
    """Why a path is not executed any further."""

    LIMIT = "more paths than the limit"
    ONE_OUTCOME = "a library calls this code, and one outcome is followed"


@dataclass(frozen=True, slots=True)
class Dropped:
    """So many paths are not executed any further."""

    count: int
    reason: DropReason


class SkipReason(Enum):
    """Why iterations of a loop are not executed."""

    STABLE = "the iteration ended in a state equivalent to the one it began with"
    RUN_BEFORE = "an earlier run of the loop began in an equivalent state"


@dataclass(frozen=True, slots=True)
class Skipped:
    """The iterations of ``loop`` after the first ``done`` are not executed, or ``count`` of them."""

    loop: ast.AST
    done: int
    reason: SkipReason
    count: int | None = None


class EndReason(Enum):
    """Why a loop ends."""

    EXHAUSTED = "there is no other item, or its test is false"
    BOUND = "the program may go on, but the bound of iterations is reached"
    LEFT = "every path has left it"


@dataclass(frozen=True, slots=True)
class LoopEnded:
    """No iteration of ``loop`` after the first ``done`` is executed."""

    loop: ast.AST
    done: int
    reason: EndReason


class OpaqueReason(Enum):
    """Why a call is not executed."""

    UNKNOWN = "its code is not known"
    DEPTH = "the limit of nested calls is reached"
    RECURSION = "the function is running already, with arguments as unknown as these"


@dataclass(frozen=True, slots=True)
class Opaque:
    """The call at ``node`` was not executed: its result is unknown, and what it was given has escaped."""

    node: ast.AST
    function: Value | None
    reason: OpaqueReason


@dataclass(frozen=True, slots=True)
class GivenUp:
    """An entry point was given up."""

    lost: Lost


Decision = Forked | Outcomes | Joined | KeptApart | Dropped | Skipped | LoopEnded | Opaque | GivenUp


class Observer(Protocol):
    """Sees an execution. It must not change a state, and must not evaluate anything."""

    def enter(self, entry: Entry) -> None:
        """Execution starts at an entry point, or goes on with it."""

    def begin(self, statement: ast.stmt, state: State) -> None:
        """A statement is executed on a path."""

    def end(self, statement: ast.stmt, states: list[State]) -> None:
        """It has ended in ``states``."""

    def decide(self, decision: Decision) -> None:
        """The machine has decided what is executed next."""
