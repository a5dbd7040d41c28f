"""``source.fixAll.tapelint``: every safe preferred fix at once, as far as they go together.

Each fix was verified alone. Together they are verified again: the text with all of them must have fewer findings and
none of a code that was rarer before. Where that fails only the first is applied, and the next request finds the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from .. import analysis
from ..report.diagnostic import Fix
from ..source import Edit


def compatible(fixes: list[Fix]) -> list[Fix]:
    """The fixes that touch no text another one before them touches."""
    chosen: list[Fix] = []
    taken: list[Edit] = []
    for fix in fixes:
        if fix.edits and not any(_touch(edit, other) for edit in fix.edits for other in taken):
            chosen.append(fix)
            taken.extend(fix.edits)
    return chosen


def _touch(one: Edit, other: Edit) -> bool:
    """Whether two edits share a place; the same insertion twice counts, or it would be made twice."""
    a, b = one.span, other.span
    return (a.row, a.column) <= (b.end_row, b.end_column) and (b.row, b.column) <= (a.end_row, a.end_column)


def verified(fixes: list[Fix], report: analysis.Report, cancel: Callable[[], bool]) -> tuple[Edit, ...]:
    """The edits of ``fixes``, or of the first alone where all of them together do harm. Runs on the worker."""
    edits = tuple(edit for fix in fixes for edit in fix.edits)
    if len(fixes) < 2:
        return edits
    after = analysis.edited(report, edits, cancel)
    before = Counter(finding.code for finding in report.diagnostics)
    now = Counter(finding.code for finding in after.diagnostics)
    is_good = len(after.source.problems) <= len(report.source.problems) and now <= before and now != before
    return edits if is_good else fixes[0].edits
