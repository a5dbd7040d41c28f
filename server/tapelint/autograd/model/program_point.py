"""When and where something happened on an execution path.

The same line runs many times. In

    for step in range(3):
        loss = net(x)        # this call happens at (step, lap 1), (step, lap 2), ...

a ``ProgramPoint`` is the syntax node together with the laps of all loops and the calls that were running.
"""

from __future__ import annotations

import ast
from dataclasses import field

from ...because import NOTHING, Because
from ...frozen import frozen
from .choices import UNGUARDED, PathGuard, Region


@frozen
class Iteration:
    """One iteration of one run of a loop. ``loop`` is its syntax, ``run`` tells two runs of it apart, ``number``
    counts from 1.
    """

    loop: ast.AST
    run: int
    number: int

    @property
    def is_call(self) -> bool:
        """Whether it is a call of a function that is called again and again, and no iteration of a loop."""
        return isinstance(self.loop, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Call))

    def __repr__(self) -> str:
        return f"lap {self.number} of line {getattr(self.loop, 'lineno', '?')}"


@frozen
class ProgramPoint:
    """A syntax node, the laps running (outermost first), and the calls that led there (outermost first)."""

    node: ast.AST
    iterations: tuple[Iteration, ...] = ()
    calls: tuple[ast.AST, ...] = ()
    # What the path supposes there (`AutogradState.supposed`).
    supposed: Because = field(default=NOTHING, compare=False)
    # The code that is run only where that holds.
    supposed_code: Region | None = field(default=None, compare=False)
    # The branches on unknown tests that lead there (`AutogradState.guard`).
    guard: PathGuard = field(default=UNGUARDED, compare=False)

    def __repr__(self) -> str:
        return f"line {getattr(self.node, 'lineno', '?')}{''.join(f', {lap}' for lap in self.iterations)}"

    @property
    def call_site(self) -> tuple[ast.AST, tuple[ast.AST, ...]]:
        """Where it happened, whenever: the syntax and the calls that led there."""
        return self.node, self.calls

    @property
    def row(self) -> int:
        return getattr(self.node, "lineno", 0)


def shared_calls(*ways: tuple[ast.AST, ...]) -> int:
    """How many calls several points have in common: each of the ``ways`` has those that lead to one of them."""
    steps = enumerate(zip(*ways))
    return next((depth for depth, each in steps if any(call is not each[0] for call in each)), min(map(len, ways)))


def earlier_iteration(past: ProgramPoint, now: ProgramPoint) -> Iteration | None:
    """The lap of ``past`` that is an earlier iteration of a loop still running ``now``, or None."""
    for before, current in zip(past.iterations, now.iterations):
        if before.run != current.run:
            return None
        if before.number != current.number:
            return before
    return None


def loop_around(now: ProgramPoint, past: ProgramPoint) -> Iteration | None:
    """The outermost loop that runs ``now`` and had not begun at ``past``, or None."""
    for index, lap in enumerate(now.iterations):
        if index >= len(past.iterations) or past.iterations[index].run != lap.run:
            return lap
    return None
