"""When and where something happened on an execution path.

The same line runs many times. In

    for step in range(3):
        loss = net(x)        # this call happens at (step, lap 1), (step, lap 2), ...

a ``Moment`` is the syntax node together with the laps of all loops and the calls that were running.
"""

from __future__ import annotations

import ast

from ..frozen import frozen


@frozen
class Lap:
    """One iteration of one run of a loop. ``loop`` is its syntax, ``run`` tells two runs of it apart, ``number``
    counts from 1.
    """

    loop: ast.AST
    run: int
    number: int

    def __repr__(self) -> str:
        return f"lap {self.number} of line {getattr(self.loop, 'lineno', '?')}"


@frozen
class Moment:
    """A syntax node, the laps running (outermost first), and the calls that led there (outermost first)."""

    node: ast.AST
    laps: tuple[Lap, ...] = ()
    calls: tuple[ast.AST, ...] = ()

    def __repr__(self) -> str:
        return f"line {getattr(self.node, 'lineno', '?')}{''.join(f', {lap}' for lap in self.laps)}"

    @property
    def place(self) -> tuple[ast.AST, tuple[ast.AST, ...]]:
        """Where it happened, whenever: the syntax and the calls that led there."""
        return self.node, self.calls

    @property
    def row(self) -> int:
        return getattr(self.node, "lineno", 0)


def earlier_lap(past: Moment, now: Moment) -> Lap | None:
    """The lap of ``past`` that is an earlier iteration of a loop still running ``now``, or None."""
    for before, current in zip(past.laps, now.laps):
        if before.run != current.run:
            return None
        if before.number != current.number:
            return before
    return None


def loop_around(now: Moment, past: Moment) -> Lap | None:
    """The outermost loop that runs ``now`` and had not begun at ``past``, or None."""
    for index, lap in enumerate(now.laps):
        if index >= len(past.laps) or past.laps[index].run != lap.run:
            return lap
    return None
