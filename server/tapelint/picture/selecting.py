"""Which nodes of a graph are drawn: those of the hazard, what is next to them, and a count of the rest."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from ..autograd import Leaf, Node
from .subject import Subject

OPERATIONS = 26
LEAVES = 10
WAY = 16
"""So many nodes of the way from a root to a hazard, half of them at either end."""


class Selection:
    """``kept`` are drawn, in no order; ``rest`` are not."""

    def __init__(self, subject: Subject) -> None:
        path = subject.path
        way = path if len(path) <= WAY else (*path[: WAY // 2], *path[-WAY // 2 :])
        first = [*subject.hazards, *(node for node, _, _ in subject.spoiled), *subject.roots, *way]
        reached = list(_by_distance(first))
        operations = [item for item in reached if isinstance(item, Node)]
        leaves = [item for item in reached if isinstance(item, Leaf)]
        near = sorted(leaves, key=lambda leaf: leaf not in subject.hazards)
        self.kept: set[Node | Leaf] = {*operations[:OPERATIONS], *near[:LEAVES]}
        self.rest: list[Node | Leaf] = [*operations[OPERATIONS:], *near[LEAVES:]]


def _by_distance(begin: Iterable[Node | Leaf]) -> Iterable[Node | Leaf]:
    """All that the graph leads to, the nearest first."""
    seen = dict.fromkeys(begin)
    todo = deque(seen)
    while todo:
        item = todo.popleft()
        yield item
        for below in item.inputs if isinstance(item, Node) else ():
            if below not in seen:
                seen[below] = None
                todo.append(below)
