"""What a statement has evaluated so far, so that it can be finished on another path without doing all of it again."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from dataclasses import dataclass, field

from ..domain.state import State

Key = tuple[Hashable, int]
"""What the memo knows an evaluation by: a node, or what is done beside its value, and its occurrence."""


@dataclass(slots=True)
class EvalMemo:
    """What a statement has evaluated so far: ``values`` by node and occurrence, ``pending_paths`` still to be finished.

    A round of a comprehension counts occurrences of its own, from ``base``: what the memo holds of one round must not
    be taken for another's where an earlier round is not looked into again.
    """

    values: dict[Key, object]
    base: int = 0
    counts: dict[Hashable, int] = field(default_factory=dict)
    pending_paths: list[tuple[State, dict[Key, object]]] = field(default_factory=list)

    def latest(self, node: ast.AST) -> object:
        """What ``node`` was evaluated to last; None if it was not."""
        return self.values.get((node, self.base + max(self.counts.get(node, 1) - 1, 0)))
