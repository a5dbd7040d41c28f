"""What nodes have saved and somebody wrote since.

    y = x.exp()        # the node keeps y, version 0
    y.add_(1)          # spoiled: y has version 1
    y.data.add_(1)     # altered: the same memory, and no version tells
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .graph import Node, SavedTensor, Write
from .state import State


def spoiled_at(state: State, node: Node) -> tuple[SavedTensor, Write] | None:
    for saved in node.saved:
        write = state.writes.get(saved.counter)
        if write is not None and write.version != saved.version:
            culprit = write.since(saved.version)
            if culprit is not None:
                return saved, culprit
    return None


def altered(state: State, node: Node) -> Iterator[tuple[SavedTensor, Write]]:
    """What was saved and then written through memory that it shares with another version counter.

    Several writes may well put the old values back; one place in a loop, not called anew, goes on from what it wrote.
    """
    for saved in node.saved:
        tensor = state.tensors.get(saved.tensor)
        if tensor is None:
            continue
        since = _since(state.aside.get(tensor.memory), node.id, saved.counter)
        if tensor.memory != saved.counter:
            since += _since(state.writes.get(tensor.memory), node.id, saved.counter)
        if len({(write.moment.node, write.moment.calls) for write in since}) == 1:
            yield saved, since[-1]


def _since(write: Write | None, stamp: int, counter: int) -> list[Write]:
    """The writes after ``stamp`` that ``counter`` has not counted."""
    found: list[Write] = []
    while write is not None and write.stamp > stamp:
        if write.tensor != counter:
            found.append(write)
        write = write.before
    return found


def first_spoiled(state: State, order: Sequence[Node]) -> tuple[Node, SavedTensor, Write] | None:
    """What a retained graph would run into."""
    for node in order:
        found = spoiled_at(state, node)
        if found is not None:
            return node, *found
    return None
