"""Parts of a tensor that overlap in memory, one of which is written with the other.

x[1:] = x[:-1]         # refused: in a contiguous x both parts are without gaps, which PyTorch compares
x[:, 1:] = x[:, :-1]   # not noticed: entries are overwritten before they are read
x[:, :-1] = x[:, 1:]   # right, as each entry is read before it is overwritten
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ...frozen import frozen
from ...ops.traits import traits_of
from ..events.graph_walks import OverlapCopied, OverlapRefused
from ..facts import Facts, Window
from ..state import AutogradState
from .graph import Tensor
from .writes import TorchRaises

REFUSAL = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
    "location. Please clone() the tensor before performing the operation."
)


@frozen
class Shift:
    """How far one part lies behind another that it overlaps, and whether the size of the dimension shows that."""

    by: int
    is_certain: bool


def check_overlap(
    facts: Facts, state: AutogradState, target: int, given: Iterable[tuple[str, Tensor]], op: str, node: ast.AST
) -> None:
    """Publish that a part of a tensor is written with another one that it overlaps. Raise TorchRaises where that is
    refused for certain.
    """
    into = facts.memory.windows.get(target)
    if into is None or "pointwise" not in traits_of(op):
        return
    for _, tensor in given:
        source = facts.memory.windows.get(tensor.id) if tensor.id != target else None
        shift = _shift(into, source) if source is not None else None
        if shift is None:
            continue
        if into.is_gapless is False:
            if shift.by > 0:
                facts.events.publish(OverlapCopied(point=state.point(node), read=tensor.created_at, whole=into.whole))
            return
        is_certain = shift.is_certain and into.is_gapless is True
        facts.events.publish(
            OverlapRefused(point=state.point(node), read=tensor.created_at, whole=into.whole, is_certain=is_certain)
        )
        if is_certain:
            raise TorchRaises(REFUSAL)


def _shift(into: Window, source: Window) -> Shift | None:
    """How far ``into`` lies behind ``source``; None if they are parts of different tensors, the same part, or parts
    that need not overlap.
    """
    if (into.whole, into.dim, into.numbers) != (source.whole, source.dim, source.numbers):
        return None
    if into.size is not None:
        begin, end, _ = slice(into.start, into.stop).indices(into.size)
        first, last, _ = slice(source.start, source.stop).indices(into.size)
        overlap = end - begin == last - first and max(begin, first) < min(end, last)
        return Shift(begin - first, True) if overlap and begin != first else None
    by = (into.start or 0) - (source.start or 0)
    is_next = {(into.start or 0), (source.start or 0)} == {0, 1} and -1 in (into.stop, source.stop)
    return Shift(by, False) if is_next and None in (into.stop, source.stop) else None
