"""What a program being written has at hand: variables with their types, and what the writer knows of their graphs.

The knowledge is rough. It only serves to write programs of which about a third raises; which ones do is for PyTorch to
say.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass(slots=True)
class Variable:
    """``text`` is how it is written (``t3``, ``box.h``); ``past`` are the values it came from, with itself."""

    text: str
    type: str
    grad: bool = False
    leaf: bool = False
    past: frozenset[int] = frozenset()
    many: bool = False


@dataclass(slots=True)
class Scope:
    """Variables by the text that reads them, and the containers, modules, functions and optimizers beside them."""

    variables: dict[str, Variable] = field(default_factory=dict)
    lists: dict[str, str] = field(default_factory=dict)
    modules: list[str] = field(default_factory=list)
    functions: dict[str, tuple[tuple[str, ...], str]] = field(default_factory=dict)
    optimizers: list[str] = field(default_factory=list)
    counters: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    freed: set[int] = field(default_factory=set)

    def copy(self) -> Scope:
        """For a block: what is made in it may not be there after it."""
        return Scope(
            dict(self.variables),
            dict(self.lists),
            list(self.modules),
            dict(self.functions),
            list(self.optimizers),
            list(self.counters),
            list(self.numbers),
            self.freed,
        )

    def pick(self, rng: random.Random, kind: str, careful: bool = True) -> Variable | None:
        """A variable of a type; a careful writer avoids graphs that were freed, and prefers what was made last."""
        found = [v for v in self.variables.values() if v.type == kind]
        if careful:
            found = [v for v in found if not v.past & self.freed] or [v for v in found if v.leaf] or found
        if not found:
            return None
        if rng.random() < 0.4:
            found = found[-3:]
        return rng.choice(found)
