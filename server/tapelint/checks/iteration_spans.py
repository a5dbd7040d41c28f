"""Into which iterations of a loop the graphs reach that are held, and what is alive of them."""

from __future__ import annotations

from collections.abc import Iterable

from ..autograd import Node
from ..autograd.model.graph_search import nodes_below, reachable
from ..domain.state import State


class IterationSpans:
    """For each node made in a run of a loop: the iterations its graph reaches into, and what is alive of it."""

    def __init__(self, state: State, run: int) -> None:
        self.state, self.run = state, run
        self.known: dict[Node, frozenset[int]] = {}

    def iterations(self, node: Node) -> frozenset[int]:
        """The iterations whose nodes are held alive, with saved tensors or without."""
        for item in sorted(self._fresh(node), key=lambda n: n.id):
            found = {lap.number for lap in item.created_at.iterations if lap.run == self.run}
            for child in item.inputs:
                if isinstance(child, Node):
                    found |= self.known.get(child, frozenset())
            self.known[item] = frozenset(found)
        return self.known.get(node, frozenset())

    def alive(self, nodes: Iterable[Node]) -> tuple[Node, ...]:
        """The nodes of this run below others that still hold a saved tensor, if they are of several iterations: those
        of one are no more after a hundred than after the first.
        """
        found = [n for n in nodes_below(nodes) if n.saved and n not in self.state.freed and self._inside(n)]
        return tuple(found) if self._spread(found) else ()

    def freed(self, nodes: Iterable[Node]) -> bool:
        """Whether backward passes of several iterations have freed what lies below: bare nodes are left of it."""
        return self._spread(n for n in nodes_below(nodes) if n in self.state.freed and self._inside(n) and had_nodes(n))

    def _spread(self, nodes: Iterable[Node]) -> bool:
        """Whether they are of more than one iteration."""
        return len({lap.number for n in nodes for lap in n.created_at.iterations if lap.run == self.run}) > 1

    def carried(self, node: Node) -> bool:
        """Whether the operation that made it worked on what it had made in an earlier iteration."""
        place = node.created_at.call_site
        return any(n is not node and n.created_at.call_site == place and self._inside(n) for n in nodes_below([node]))

    def _inside(self, node: Node) -> bool:
        return any(lap.run == self.run for lap in node.created_at.iterations)

    def _fresh(self, node: Node) -> set[Node]:
        return {item for item in reachable([node], self._is_fresh) if isinstance(item, Node)}

    def _is_fresh(self, node: Node) -> bool:
        return node not in self.known and self._inside(node)


def had_nodes(node: Node) -> bool:
    """Whether a node keeps something alive that a pass has freed: its own, or the graph for which it stands."""
    return node.saves_anything or not node.is_complete
