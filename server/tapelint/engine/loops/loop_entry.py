"""With what a loop begins."""

from __future__ import annotations

from dataclasses import dataclass

from ...domain.values import Value


@dataclass(frozen=True, slots=True)
class LoopEntry:
    """What a loop begins with: the number of its run, how many loops are around it, what it goes through, and how many
    conditions were decided before that are not known.
    """

    run: int
    depth: int
    items: list[Value]
    chosen: int
