"""What nodes have saved and some code wrote since.

y = x.exp()        # the node keeps y, version 0
y.add_(1)          # spoiled: y has version 1
y.data.add_(1)     # altered: the same memory, and no version tells
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...ops.traits import traits_of
from ...source import written
from ..model.graph import Node, SavedTensor, Write
from ..state import AutogradState


def spoiled_at(state: AutogradState, node: Node) -> tuple[SavedTensor, Write] | None:
    for saved in node.saved:
        write = state.writes.get(saved.version_counter)
        if write is not None and write.version != saved.version:
            culprit = write.since(saved.version)
            if culprit is not None:
                return saved, culprit
    return None


def altered(state: AutogradState, node: Node) -> Iterator[tuple[SavedTensor, Write]]:
    """What was saved and then written through memory that it shares with another version counter.

    Several writes may well put the old values back; one place in a loop, not called anew, goes on from what it wrote,
    unless that is where the second time changes nothing.
    """
    for saved in node.saved:
        tensor = state.tensors.get(saved.tensor)
        if tensor is None:
            continue
        since = _since(state.untracked_writes.get(tensor.storage), node.id, saved.version_counter)
        if tensor.storage != saved.version_counter:
            since += _since(state.writes.get(tensor.storage), node.id, saved.version_counter)
        if not since or len({(write.point.node, write.point.calls) for write in since}) != 1:
            continue
        last = state.writes.get(tensor.storage)
        if not repeats(since[-1], last.stamp if last is not None else 0):
            yield saved, since[-1]


def repeats(write: Write, counted: int) -> bool:
    """Whether ``write`` only does again what the one before it did: in the same words, given the same, and no code has
    written there in between (``counted`` is the stamp of the last write that was counted).
    """
    before = write.before
    return (
        before is not None
        and "settles" in traits_of(write.op)
        and (write.op != "mul_" or len(write.given) > 0)
        and (write.op, write.given) == (before.op, before.given)
        and written(write.point.node) == written(before.point.node)
        and counted < before.stamp
    )


def _since(write: Write | None, stamp: int, counter: int) -> list[Write]:
    """The writes after ``stamp`` that ``counter`` has not counted."""
    found: list[Write] = []
    while write is not None and write.stamp > stamp:
        if write.tensor != counter:
            found.append(write)
        write = write.before
    return found


def first_spoiled(state: AutogradState, order: Sequence[Node]) -> tuple[Node, SavedTensor, Write] | None:
    """What a retained graph would run into."""
    for node in order:
        found = spoiled_at(state, node)
        if found is not None:
            return node, *found
    return None
