"""Steps of optimizers between a graph's first backward and a later one: what they wrote of it, and what they spared.

fake = G(z)
score = D(fake)
d_loss(score).backward()
opt_d.step()                # writes what D has: `score` is out of date, `fake` is spared
g_loss(score).backward()
"""

from __future__ import annotations

from ...frozen import frozen
from .graph import Node
from .graph_search import leaf_tensors
from .program_point import ProgramPoint


@frozen
class LaterUpdate:
    """What an optimizer has written between two backwards through a graph, at ``point`` for the last time."""

    point: ProgramPoint
    # The leaves that it wrote, and those that it held besides.
    written: frozenset[int]
    held: frozenset[int]
    # The nodes next to the root that lead to leaves, but to none that was written.
    spared: tuple[Node, ...]

    def finishes(self, root: Node, part: Node) -> bool:
        """Whether it wrote all that ``part`` leads to, and held nothing of what ``root`` leads to beside that."""
        below = leaf_tensors([part])
        rest = leaf_tensors([root]) - below
        return below <= self.written and bool(rest) and not rest & (self.written | self.held)
