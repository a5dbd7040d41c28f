"""What the machine executes and decides, for an observer such as ``tapelint trace``.

    if flag:            Forked: the truth of `flag` is unknown
        n = 1
    else:
        n = 2           Joined: the two paths are one again, and `n` is havocked
    if n is None:       Decided: its value is known

A machine without an observer pays one comparison with None for each statement and each decision.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable
from enum import Enum
from typing import Protocol

from ..domain.equivalence import Change
from ..domain.state import State
from ..domain.values import Value
from ..frozen import frozen
from .statistics import Entry, Lost


class DecideReason(Enum):
    """Why the truth of a test is known."""

    KNOWN = "its value is known"
    FOLLOWS = "it follows from tests before it on the path"
    DEFAULT = "no values of its options make it go the other way"
    # The path supposes something of other options (`AutogradState.supposed`).
    SUPPOSED = "all other options have their defaults"


@frozen(eq=False)
class Decided:
    """The truth of a test is known: only one way is followed."""

    test: ast.expr
    state: State
    truth: bool
    reason: DecideReason


@frozen(eq=False)
class Forked:
    """A condition is unknown, and both its truth values are followed."""

    # A test, or the pattern of a `case`.
    test: ast.AST
    # The path on which it holds, and the one on which it does not.
    state: State
    other: State
    # By which `State.path_condition` knows it; None where its truth is not remembered.
    formula: Hashable = None
    # Whether the formula is the negation of the test.
    negated: bool = False


@frozen(eq=False)
class Picked:
    """One of several things is looked up by a key that is not known, and all of them are followed."""

    # The look-up.
    node: ast.expr
    # The paths, each with what was picked there.
    states: tuple[State, ...]
    names: tuple[str, ...]


@frozen(eq=False)
class Outcomes:
    """A call ended in several states."""

    # The path that called goes on as the first of them.
    state: State
    first: State
    # On each of these the statement is finished afterwards.
    others: tuple[State, ...]


@frozen(eq=False)
class Joined:
    """Two paths were equivalent."""

    # The one that is not executed any further, and the one that goes on for both.
    state: State
    other: State
    # The plain values that were havocked, because the two differed in them.
    forgotten: tuple[Change, ...]


@frozen(eq=False)
class KeptApart:
    """These paths have met and are not equivalent: all of them go on."""

    states: tuple[State, ...]


class DropReason(Enum):
    """Why a path is not executed any further."""

    LIMIT = "more paths than the limit"
    ONE_OUTCOME = "a library calls this code, and one outcome is followed"


@frozen(eq=False)
class Dropped:
    """So many paths are not executed any further."""

    count: int
    reason: DropReason


class SkipReason(Enum):
    """Why iterations of a loop are not executed."""

    STABLE = "the iteration ended in a state equivalent to the one it began with"
    RUN_BEFORE = "an earlier run of the loop began in an equivalent state"


@frozen(eq=False)
class Skipped:
    """Iterations of a loop are not executed."""

    loop: ast.AST
    # How many come before them.
    done: int
    reason: SkipReason
    # How many they are; None for all.
    count: int | None = None


class EndReason(Enum):
    """Why a loop ends."""

    EXHAUSTED = "there is no other item, or its test is false"
    BOUND = "the program may go on, but the bound of iterations is reached"
    LEFT = "every path has left it"


@frozen(eq=False)
class LoopEnded:
    """No other iteration of a loop is executed."""

    loop: ast.AST
    # How many were executed.
    done: int
    reason: EndReason


class OpaqueReason(Enum):
    """Why a call is not executed."""

    UNKNOWN = "its code is not known"
    DEPTH = "the limit of nested calls is reached"
    RECURSION = "the function is running already, with arguments as unknown as these"


@frozen(eq=False)
class Opaque:
    """A call was not executed: its result is unknown, and its arguments have escaped."""

    # The call, or the syntax that stands for it, such as a decorator.
    node: ast.AST
    function: Value | None
    reason: OpaqueReason


@frozen(eq=False)
class GivenUp:
    """An entry point was given up."""

    lost: Lost


Decision = Decided | Forked | Picked | Outcomes | Joined | KeptApart | Dropped | Skipped | LoopEnded | Opaque | GivenUp


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
