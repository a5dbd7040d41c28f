"""What a loop begins with."""

from __future__ import annotations

from collections.abc import Hashable

from ...domain.values import Value
from ...frozen import frozen


@frozen
class LoopEntry:
    """What a loop begins with."""

    # The number of its run.
    run: int
    # How many loops are around it.
    depth: int
    # The items for which its body is executed.
    items: list[Value]
    # How many unknown conditions were assumed before it.
    chosen: int
    # How many iterations it has at most, where that is known of what it goes over.
    count: int | None = None
    # How many it has where every option has its default, and the formula that is true if it has one more.
    by_default: tuple[int, Hashable] | None = None

    @property
    def is_cut(self) -> bool:
        """Whether there are more items than the body is executed for."""
        return self.count is not None and len(self.items) < self.count
