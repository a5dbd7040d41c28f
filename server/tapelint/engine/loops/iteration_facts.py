"""What is noted while a unit runs, to know which iterations need not be executed again."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .convergence import StableIteration


@dataclass(slots=True)
class IterationFacts:
    """Which iterations and values let later iterations be skipped."""

    # The iterations that ended as they had begun, by loop.
    stable: dict[ast.AST, StableIteration] = field(default_factory=dict)
    # Attributes of objects, and names of other scopes, that were read or set: heap id and name, and the fuel that was
    # used when that was last.
    accessed: dict[tuple[int, str], int] = field(default_factory=dict)
    # The `if` statements on a number whose body was seen to do nothing.
    inert: set[ast.AST] = field(default_factory=set)

    def later(self, count: int) -> IterationFacts:
        """The same for a unit that goes on after ``count`` fuel, and counts its own from 0."""
        return IterationFacts(
            self.stable.copy(), {what: when - count for what, when in self.accessed.items()}, self.inert.copy()
        )
