"""What the steps between two backwards through one graph wrote of it: looked up where the later one raises."""

from __future__ import annotations

from collections.abc import Iterable

from ..events.graph_walks import LaterUpdate
from ..facts import Facts
from ..model.graph import Leaf, Node
from ..model.graph_search import leaf_tensors, nodes_below
from ..model.program_point import ProgramPoint
from ..state import AutogradState


def later_update(
    facts: Facts, state: AutogradState, first: Iterable[Node], now: Iterable[Node], since: int
) -> LaterUpdate | None:
    """What was stepped on since the id ``since``, of what the ``first`` backward and the one ``now`` lead to."""
    now = tuple(now)
    written = {key: write for key in leaf_tensors((*first, *now)) if (write := _step(state, key, since)) is not None}
    if not written:
        return None
    if written.keys() & leaf_tensors(now):
        spared = _spared(now, written.keys())
    else:
        spared = tuple(node for node in now if leaf_tensors([node]))
    last = max(written.values(), key=lambda write: write[0])
    return LaterUpdate(
        last[1],
        frozenset(written),
        frozenset(facts.training.stepped_with.get(last[1].call_site, ())),
        spared,
    )


def _step(state: AutogradState, key: int, since: int) -> tuple[int, ProgramPoint] | None:
    """When an optimizer has written a leaf after ``since``."""
    tensor = state.tensors.get(key)
    write = state.writes.get(tensor.version_counter) if tensor is not None else None
    return (write.stamp, write.point) if write is not None and write.by_optimizer and write.stamp > since else None


def _spared(roots: tuple[Node, ...], written: Iterable[int]) -> tuple[Node, ...]:
    """The frontier of what leads to no leaf of ``written``, in the order in which it was made."""
    changed = set(written)
    leads: set[Node] = set()
    stale: set[Node] = set()
    nodes = sorted(nodes_below(roots), key=lambda node: node.id)
    for node in nodes:  # what a node depends on is older
        for item in node.inputs:
            if isinstance(item, Leaf):
                leads.add(node)
                if item.tensor in changed:
                    stale.add(node)
            elif item in leads:
                leads.add(node)
                if item in stale:
                    stale.add(node)
    border = {item for node in nodes if node in stale for item in node.inputs if isinstance(item, Node)}
    return tuple(node for node in nodes if node in border and node in leads and node not in stale)
