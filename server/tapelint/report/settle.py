"""From what the rules observed to what is reported: wanted, not silenced, each hazard once, in reading order."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..source import Suppressions
from .diagnostic import Diagnostic

_RANK = {"error": 0, "warning": 1, "information": 2, "hint": 3}


def settle(
    found: Iterable[Diagnostic],
    suppressions: Suppressions = Suppressions(),  # noqa: B008  (frozen)
    wants: Callable[[str], bool] = lambda code: True,
) -> tuple[Diagnostic, ...]:
    """The findings to report. The same hazard at the same place is met on many paths: the gravest one, told in the
    fewest steps, stands for all of them."""
    best: dict[tuple[object, ...], Diagnostic] = {}
    for diagnostic in found:
        if not wants(diagnostic.code) or suppressions.covers(diagnostic.code, diagnostic.span.row):
            continue
        key = (diagnostic.filename, diagnostic.span, diagnostic.code)
        known = best.get(key)
        if known is None or _grave_and_short(diagnostic) < _grave_and_short(known):
            best[key] = diagnostic
    return tuple(sorted(best.values(), key=lambda d: (d.filename, d.span, _RANK[d.severity], d.code)))


def _grave_and_short(diagnostic: Diagnostic) -> tuple[int, int]:
    return _RANK[diagnostic.severity], len(diagnostic.related)
