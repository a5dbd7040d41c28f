"""From what the rules observed to what is reported: wanted, not silenced, each hazard once, in reading order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ..severity import Severity
from ..source import Suppressions
from .diagnostic import Diagnostic


def dedupe_and_grade(
    found: Iterable[Diagnostic],
    suppressions: Suppressions = Suppressions(),  # noqa: B008  (frozen)
    grade: Callable[[Diagnostic], Severity | None] = lambda diagnostic: diagnostic.severity,
) -> tuple[Diagnostic, ...]:
    """The findings to report. The same hazard at the same place is met on many paths: the gravest one, reported in the
    fewest steps, stands for all of them. ``grade`` says how grave it is to the user; None: not wanted."""
    best: dict[tuple[object, ...], Diagnostic] = {}
    for diagnostic in found:
        if suppressions.covers(diagnostic.code, diagnostic.span.row, diagnostic.name):
            continue
        known = best.get(diagnostic.place)
        if known is None or _grave_and_short(diagnostic) < _grave_and_short(known):
            best[diagnostic.place] = diagnostic
    graded = [replace(d, severity=severity) for d in best.values() if (severity := grade(d)) is not None]
    return tuple(sorted(graded, key=lambda d: (d.filename, d.span, d.severity, d.code)))


def _grave_and_short(diagnostic: Diagnostic) -> tuple[Severity, int]:
    return diagnostic.severity, len(diagnostic.related)
