"""Which of the things that were kept are one leak: they hold parts of the same graph.

    h = cell(x, h)        `h` holds the graph of all steps,
    y = head(h)           `y` all of that and more,
    outs.append(y)        and `outs` what `y` holds: one leak, reported of `outs`

What shares no node is a leak of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..autograd import Node, RetainedGraphs
from ..autograd.model.graph_search import nodes_below
from ..domain.state import State


def leaks(state: State, kept: Iterable[RetainedGraphs]) -> list[RetainedGraphs]:
    """One of each leak: what the program can change to end it, with the names of what else holds parts of it."""
    groups: list[tuple[set[Node], list[RetainedGraphs]]] = []
    for each in kept:
        nodes, members = _nodes(state, each), [each]
        apart: list[tuple[set[Node], list[RetainedGraphs]]] = []
        for group in groups:
            if nodes.isdisjoint(group[0]):
                apart.append(group)
            else:
                nodes, members = nodes | group[0], [*group[1], *members]
        groups = [*apart, (nodes, members)]
    return [_reported(members) for _, members in groups]


def _nodes(state: State, kept: RetainedGraphs) -> set[Node]:
    """What is held of the loop's own graph: not what was there before it."""
    below = nodes_below(state.grad_fns([kept.tensor]))
    run = kept.lap.run
    own = {node for node in below if any(lap.run == run for lap in node.created_at.iterations)}
    return own.union(kept.alive, kept.added)


def _reported(members: Sequence[RetainedGraphs]) -> RetainedGraphs:
    """The member to report: what is stored, unless a variable holds more than twice as much."""
    most = max(_weight(each) for each in members)
    head = max(members, key=lambda each: (_is_stored(each) and 2 * _weight(each) >= most, _weight(each)))
    names = dict.fromkeys(each.stored.target for each in sorted(members, key=_weight, reverse=True))
    others = tuple(name for name in names if name != head.stored.target)
    return replace(head, others=others, is_brief=all(each.is_brief for each in members))


def _weight(kept: RetainedGraphs) -> int:
    """What an iteration adds to it."""
    return len(kept.added) + kept.saved


def _is_stored(kept: RetainedGraphs) -> bool:
    """Whether it is a container or an attribute, not a variable that is given the next value."""
    stored = kept.stored
    if stored.collects or "." in stored.target:
        return True
    targets = stored.statement.targets if isinstance(stored.statement, ast.Assign) else ()
    return any(isinstance(target, ast.Attribute) for target in targets)
