"""What a graph leads to: searches over the edges from a node to what it depends on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from .graph import Leaf, Node


def reachable(begin: Iterable[Node | Leaf], within: Callable[[Node], bool] | None = None) -> Iterator[Node | Leaf]:
    """Each node and leaf once that edges lead to, those of ``begin`` included, in no useful order. A node that is not
    ``within`` is passed over with what lies below it.
    """
    seen: set[Node | Leaf] = set()
    todo = list(begin)
    while todo:
        item = todo.pop()
        if item in seen:
            continue
        seen.add(item)
        if isinstance(item, Node):
            if within is not None and not within(item):
                continue
            todo += item.inputs
        yield item


def nodes_below(begin: Iterable[Node]) -> set[Node]:
    """All nodes that edges lead to, those of ``begin`` included."""
    found = set(begin)
    todo = list(found)
    while todo:
        for item in todo.pop().inputs:
            if type(item) is Node and item not in found:
                found.add(item)
                todo.append(item)
    return found


def leaf_tensors(begin: Iterable[Node | Leaf]) -> set[int]:
    """The tensors of all leaves that edges lead to."""
    return {item.tensor for item in reachable(begin) if isinstance(item, Leaf)}
