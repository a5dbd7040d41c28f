"""Does the time grow with the program and no faster? Programs of 10 to 10,000 statements, loops 1 to 5 deep."""

from __future__ import annotations

import ast
import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tapelint.analysis import analyse
from tapelint.engine.limits import Limits

from .generated import branched, called, looped, nested, straight, wide
from .timing import best_of

SIZES = (10, 100, 1_000, 10_000)
DEPTHS = (1, 2, 3, 4, 5)
SHAPES: dict[str, Callable[[int], str]] = {
    "statements in a row": straight,
    "ops, ten a statement": wide,
    "in branches": branched,
    "in functions": called,
    "in loops": looped,
}
LIMITS = Limits()
BUDGETS = (
    f"budgets: {LIMITS.script_fuel:,} steps for the script, {LIMITS.entry_fuel:,} for each function nothing calls and "
    f"{LIMITS.all_entries_fuel:,} for all of them, {LIMITS.paths} paths, {LIMITS.call_depth} calls deep. What "
    "lies beyond is not executed: nothing is reported there, and `tapelint check --stats` counts it."
)


@dataclass(frozen=True, slots=True)
class Point:
    """One program: ``per`` is the time for one of its statements, ``ratio`` that of the analysis to ``ast.parse``;
    ``is_cut`` if the budget ended the analysis early.
    """

    shape: str
    size: int
    seconds: float
    per: float
    ratio: float
    steps: int
    is_cut: bool


def points() -> Iterator[Point]:
    """All programs, one after the other."""
    for shape, program in SHAPES.items():
        for size in SIZES:
            yield _point(shape, size, program, size)
    for depth in DEPTHS:
        yield _point("nested loops", depth, nested, depth + 5)


def _point(shape: str, size: int, program: Callable[[int], str], statements: int) -> Point:
    text = program(size)
    gc.collect()
    seconds = best_of(3 if size < 10_000 else 1, lambda: analyse(text))
    parse = best_of(3, lambda: ast.parse(text))
    stats = analyse(text).stats
    is_cut = bool(stats["out_of_fuel"] or stats["faults"] or stats["dropped"])
    return Point(shape, size, seconds, seconds / statements, seconds / parse, stats["steps"], is_cut)
