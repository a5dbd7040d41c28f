"""Many fixes at once: those of a whole file, as ``tapelint check --fix`` and ``source.fixAll.tapelint`` apply them.
Both go on until none is left, and leave the same text.

Each fix was verified alone. Together they are verified again: the text with all of them must have fewer findings and
none of a code that was rarer before. Where that fails only the first is applied, and the next round finds the rest;
so do fixes that touch the same text. In the end each is verified once more: one that changes nothing in a text that has
all the others is taken out again (:mod:`.needed_fixes`).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import field

from .. import analysis
from ..bounds import BOUNDS
from ..frozen import frozen
from ..report.diagnostic import Fix, unasked
from ..source import Edit
from .needed_fixes import Change, without_needless


@frozen
class Repaired:
    """A text after its fixes: the report on it, and how many findings of each rule were fixed, by its code and name."""

    report: analysis.Report
    fixed: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def fixes(self) -> int:
        """How many were made."""
        return self.fixed.total()


def repair(
    report: analysis.Report,
    unsafe: bool,
    cancel: Callable[[], bool] | None = None,
    patience: float | None = None,
    code: str | None = None,
) -> Repaired:
    """Apply the best fix of every finding, or of every one of the rule ``code``, until none is left; only safe ones
    unless ``unsafe``, and none that is to be chosen by hand. No round begins after ``patience`` seconds.
    """
    fixed, seen, first = Counter[tuple[str, str]](), {report.source.text}, report
    changes: list[Change] = []
    end = None if patience is None else time.monotonic() + patience
    for _ in range(BOUNDS.rounds_of_fixes):
        if end is not None and time.monotonic() > end:
            break
        rules = _best_of_each(report, unsafe, cancel, code)
        chosen = compatible(list(rules))
        if not chosen:
            break
        edits = verified(chosen, report, cancel)
        after = analysis.edited(report, edits, cancel)
        if after.source.text in seen:
            break
        seen.add(after.source.text)
        made = [fix for fix in chosen if set(fix.edits) <= set(edits)]
        changes += [Change(report.source.text, after.source.text, edits, fix.edits) for fix in made]
        fixed.update(rules[fix] for fix in made)
        report = after
    return Repaired(without_needless(report, changes, cancel) if report is not first else report, fixed)


def _best_of_each(
    report: analysis.Report, unsafe: bool, cancel: Callable[[], bool] | None, code: str | None
) -> dict[Fix, tuple[str, str]]:
    """The fix to apply of each finding that has one, of the rule ``code`` alone where that is given; each with the code
    and the name of the rule.
    """
    found: dict[Fix, tuple[str, str]] = {}
    memory = analysis.trials()
    for each in report.diagnostics:
        if code in (None, each.code):
            fix = unasked(analysis.fixes(report, each, cancel, memory), unsafe)
            if fix is not None:
                found.setdefault(fix, (each.code, each.name))
    return found


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


def verified(fixes: list[Fix], report: analysis.Report, cancel: Callable[[], bool] | None = None) -> tuple[Edit, ...]:
    """The edits of ``fixes``, or of the first alone where all of them together do harm."""
    edits = tuple(edit for fix in fixes for edit in fix.edits)
    if len(fixes) < 2:
        return edits
    after = analysis.edited(report, edits, cancel)
    before = Counter(finding.code for finding in report.diagnostics)
    now = Counter(finding.code for finding in after.diagnostics)
    is_good = len(after.source.problems) <= len(report.source.problems) and now <= before and now != before
    return edits if is_good else fixes[0].edits
