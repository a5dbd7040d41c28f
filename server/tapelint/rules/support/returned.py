"""By which call a tensor got its graph: where a function that the program called returned it."""

from __future__ import annotations

from collections import deque

from ...autograd.facts import Facts
from ...autograd.model.graph import Leaf, Node
from ...autograd.model.program_point import ProgramPoint
from .finding import TraceStep
from .story import tensor_name

MOST_NODES = 64
"""How far down a graph what a call returned is looked for: beyond that it explains little."""


def returned_with_graph(facts: Facts, graph: Node, now: ProgramPoint) -> list[TraceStep]:
    """The steps of a story that say which call of the function that runs ``now`` gave ``graph`` its first part: the
    leaf that was made there, if it is one, and the innermost ``return``: calls around that only hand it on. Empty if
    none did.
    """
    for item in _nearest(graph):
        for key in item.results if isinstance(item, Node) else (item.tensor,):
            for point in facts.returned.get(key, ()):
                if len(point.calls) > len(now.calls) and point.calls[: len(now.calls)] == now.calls:
                    return [*_made_leaf(facts, item, point), _returned(facts, key, point)]
    return []


def _nearest(graph: Node) -> list[Node | Leaf]:
    """The nodes and leaves that a graph leads to, the nearest first."""
    found = dict[Node | Leaf, None]()
    todo = deque[Node | Leaf]([graph])
    while todo and len(found) < MOST_NODES:
        item = todo.popleft()
        found.setdefault(item)
        if isinstance(item, Node):
            todo += (each for each in item.inputs if each not in found)
    return list(found)


def _made_leaf(facts: Facts, item: Node | Leaf, returned: ProgramPoint) -> list[TraceStep]:
    made = facts.provenance_of(item.tensor).rewrapped if isinstance(item, Leaf) else None
    if made is None or made.calls[: len(returned.calls)] != returned.calls:
        return []
    assert isinstance(item, Leaf)
    name = tensor_name(facts, item.tensor) or "A tensor"
    return [TraceStep(made.node, f"{name} is made to require grad here", made, short="made to require grad")]


def _returned(facts: Facts, key: int, point: ProgramPoint) -> TraceStep:
    name = tensor_name(facts, key)
    what = f"{name} requires grad and" if name is not None else "What requires grad"
    return TraceStep(point.node, f"{what} is returned here", point, short="returned")
