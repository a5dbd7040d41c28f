"""What is noted while a part of the execution runs, to know what need not be run once more."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .convergence import StableIteration


@dataclass(slots=True)
class Watch:
    """``rounds`` are the iterations of loops that ended as they had begun; ``touched`` the attributes of objects, and
    the names of other scopes, that were read or set, with the last step of the machine at which that was; ``idle`` the
    tests of numbers that only decide whether something is run that does nothing.
    """

    rounds: dict[ast.AST, StableIteration] = field(default_factory=dict)
    touched: dict[tuple[int, str], int] = field(default_factory=dict)
    idle: set[ast.AST] = field(default_factory=set)

    def later(self, count: int) -> Watch:
        """The same for a part that goes on after so many steps, and counts its own from 0."""
        return Watch(self.rounds.copy(), {what: when - count for what, when in self.touched.items()}, self.idle.copy())
