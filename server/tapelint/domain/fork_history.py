"""What two paths can differ in: only what one of them changed since they parted.

if a: x = 1         # both paths remember what they touched since the fork,
else: y = 2         # so comparing them looks at x and y, not at all the program holds
"""

from __future__ import annotations


class ForkHistory:
    """What a path had changed between two forks, and what came before; paths that forked share their past."""

    __slots__ = ("before", "depth", "heap", "tensors", "writes")

    def __init__(self, before: ForkHistory | None, heap: set[int], tensors: set[int], writes: set[int]) -> None:
        self.before = before
        self.depth: int = before.depth + 1 if before is not None else 1
        self.heap, self.tensors, self.writes = heap, tensors, writes


class ForkDiff:
    """The keys of two paths' heap objects, tensors and version counters that may differ."""

    __slots__ = ("heap", "tensors", "writes")

    def __init__(self, left: ForkHistory | None, right: ForkHistory | None) -> None:
        self.heap: set[int] = set()
        self.tensors: set[int] = set()
        self.writes: set[int] = set()
        while left is not right:
            if right is None or left is not None and left.depth >= right.depth:
                assert left is not None
                self.add(left.heap, left.tensors, left.writes)
                left = left.before
            else:
                self.add(right.heap, right.tensors, right.writes)
                right = right.before

    def add(self, heap: set[int], tensors: set[int], writes: set[int]) -> None:
        self.heap |= heap
        self.tensors |= tensors
        self.writes |= writes
