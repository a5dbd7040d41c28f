"""Does the time grow with the program and no faster? Programs of 10 to 10,000 statements, loops 1 to 5 deep."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from generated import looped, nested, straight
from timing import best_of

from tapelint.analysis import analyse

SIZES = (10, 100, 1_000, 10_000)
DEPTHS = (1, 2, 3, 4, 5)


@dataclass(frozen=True, slots=True)
class Point:
    """One program: ``per`` is the time for one of its statements; ``is_cut`` if the budget ended the analysis early."""

    shape: str
    size: int
    seconds: float
    per: float
    steps: int
    is_cut: bool


def points() -> Iterator[Point]:
    """All programs, one after the other."""
    for size in SIZES:
        yield _point("statements in a row", size, straight, size)
    for size in SIZES:
        yield _point("statements in loops", size, looped, size)
    for depth in DEPTHS:
        yield _point("nested loops", depth, nested, depth + 5)


def _point(shape: str, size: int, program: Callable[[int], str], statements: int) -> Point:
    text = program(size)
    gc.collect()
    seconds = best_of(3 if size < 10_000 else 1, lambda: analyse(text))
    stats = analyse(text).stats
    is_cut = bool(stats["spent"] or stats["faults"] or stats["dropped"])
    return Point(shape, size, seconds, seconds / statements, stats["steps"], is_cut)
