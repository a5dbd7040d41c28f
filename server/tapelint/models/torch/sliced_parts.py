"""Which part of a tensor a slice is (``autograd.model.windows``)."""

from __future__ import annotations

from ...autograd import Tensor
from ...autograd.facts import Facts, Window
from ...domain.values import NONE, Const, Slice, Tuple, Value

WHOLE = Slice(NONE, NONE, NONE)


def remember(facts: Facts, whole: Tensor, index: Value, part: int) -> None:
    """``part`` is what ``index`` cuts out of ``whole``."""
    window = _window(facts, whole, index)
    if window is not None:
        facts.memory.windows[part] = window


def _window(facts: Facts, whole: Tensor, index: Value) -> Window | None:
    """The part of ``whole`` that ``index`` cuts out by one slice with plain bounds; None for any other index."""
    placed = _placed(whole.rank, list(index.items) if isinstance(index, Tuple) else [index])
    if placed is None:
        return None
    cuts = [(dim, part) for dim, part in placed if isinstance(part, Slice) and part != WHOLE]
    bounds = _bounds(cuts[0][1]) if len(cuts) == 1 else None
    if bounds is None:
        return None
    dim = cuts[0][0]
    numbers = tuple((at, part.value) for at, part in placed if isinstance(part, Const) and isinstance(part.value, int))
    size = whole.sizes[dim] if isinstance(whole.sizes, tuple) else None
    return Window(whole.id, dim, size, *bounds, numbers, _is_gapless(facts, whole, dim, dict(numbers)))


def _bounds(cut: Slice) -> tuple[int | None, int | None] | None:
    """Where a slice begins and ends; None if that is unknown, or it leaves out some in between."""
    start, stop, step = (each.value if isinstance(each, Const) else "?" for each in (cut.start, cut.stop, cut.step))
    if isinstance(start, int | None) and isinstance(stop, int | None) and step in (None, 1):
        return start, stop
    return None


def _placed(rank: int | None, parts: list[Value]) -> list[tuple[int, Value]] | None:
    """The parts of an index, each with its dimension; None if one of them is unknown, or more than an index takes."""
    if any(part != Const(...) and not isinstance(part, Slice) and not _is_number(part) for part in parts):
        return None
    if parts.count(Const(...)) > 1 or rank is not None and len(parts) - parts.count(Const(...)) > rank:
        return None
    if Const(...) not in parts:
        return [*enumerate(parts)]
    place = parts.index(Const(...))
    right = 0 if rank is None else rank
    before, after = parts[:place], parts[place + 1 :]
    return [*enumerate(before), *((right - len(after) + at, part) for at, part in enumerate(after))]


def _is_number(part: Value) -> bool:
    return isinstance(part, Const) and isinstance(part.value, int) and not isinstance(part.value, bool)


def _is_gapless(facts: Facts, whole: Tensor, dim: int, numbers: dict[int, int]) -> bool | None:
    """Whether the entries of a part lie without gaps: all that stands before the cut dimension is one number each, or
    has one entry, and nothing behind it is a number.
    """
    sizes = whole.sizes if isinstance(whole.sizes, tuple) else None
    if dim < 0 or any(at > dim for at in numbers):
        return False
    if any(at not in numbers and (sizes is None or sizes[at] != 1) for at in range(dim)):
        return False
    return True if whole.base is None and (whole.rank == 1 or whole.id in facts.memory.contiguous) else None
