"""What is noted while a part of the execution runs, to know what need not be run once more."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .convergence import StableIteration


@dataclass(slots=True)
class IterationFacts:
    """``stable`` are the iterations of loops that ended as they had begun; ``accessed`` the attributes of objects, and
    the names of other scopes, that were read or set, with the last step of the machine at which that was; ``inert`` the
    tests of numbers that only decide whether something is run that does nothing.
    """

    stable: dict[ast.AST, StableIteration] = field(default_factory=dict)
    accessed: dict[tuple[int, str], int] = field(default_factory=dict)
    inert: set[ast.AST] = field(default_factory=set)

    def later(self, count: int) -> IterationFacts:
        """The same for a part that goes on after so many steps, and counts its own from 0."""
        return IterationFacts(
            self.stable.copy(), {what: when - count for what, when in self.accessed.items()}, self.inert.copy()
        )
