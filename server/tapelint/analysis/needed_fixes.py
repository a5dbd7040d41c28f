"""Which of many fixes are still needed after the others: what ``torch.no_grad()`` now encloses need not be
detached there.

A fix that changes rows, or puts a ``with`` around them, is taken out of the final text where that still has these rows,
however indented. That text is analysed: the fix stays unless nothing is found that was not, and each backward reaches
as much.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher

from .. import analysis
from ..fixes.text.source_editor import EditRefused
from ..frozen import frozen
from ..source import Edit, Span, apply
from .fix_verification import reaches_as_much


@frozen
class Change:
    """A fix as it was made: ``own`` are its edits among all of those that turned ``before`` into ``after``."""

    before: str
    after: str
    edits: tuple[Edit, ...]
    own: tuple[Edit, ...]


def without_needless(
    report: analysis.Report, changes: Sequence[Change], cancel: Callable[[], bool] | None = None
) -> analysis.Report:
    """The report on the text without those ``changes`` that the others make needless."""
    for change in changes if len(changes) > 1 else ():
        try:
            edits = tuple(_undoing(change, report.source.text))
        except EditRefused:
            continue
        if edits:
            without = analysis.edited(report, edits, cancel)
            is_as_good = _codes(without) <= _codes(report) and reaches_as_much(without, report)
            if is_as_good and len(without.source.problems) <= len(report.source.problems):
                report = without
    return report


def _undoing(change: Change, text: str) -> Iterator[Edit]:
    """The edits that put rows of ``text`` back to what they were without ``change``; refused where it lacks them."""
    others = tuple(edit for edit in change.edits if edit not in change.own)
    with_it, without = change.after.splitlines(), apply(change.before, others).splitlines()
    rows = text.splitlines()
    place = dict(_same(with_it, rows))
    for index, other in _pairs(with_it, without):
        row = with_it[index]
        if row == other:
            continue
        if index not in place:
            raise EditRefused("rows that others have changed")
        at = place[index] + 1
        now = rows[at - 1]
        if other is None:
            yield Edit(Span(at, 1, at + 1, 1), "")
            continue
        more = len(_indent(row)) - len(_indent(other))
        if more < 0 or len(_indent(now)) < more:
            raise EditRefused("rows that stand elsewhere")
        yield Edit(Span(at, 1, at, len(now) + 1), _indent(now)[: len(_indent(now)) - more] + other.lstrip())


def _same(one: list[str], other: list[str]) -> Iterator[tuple[int, int]]:
    """The indices of rows that are the same but for their indentation."""
    for a, b, size in _matcher(one, other).get_matching_blocks():
        yield from zip(range(a, a + size), range(b, b + size))


def _pairs(with_it: list[str], without: list[str]) -> Iterator[tuple[int, str | None]]:
    """What each row was without the fix; None for one that was not there."""
    for tag, a, a_end, b, b_end in _matcher(with_it, without).get_opcodes():
        if tag == "insert" or tag == "replace" and a_end - a != b_end - b:
            raise EditRefused("rows that the fix has taken out")
        yield from zip(range(a, a_end), [None] * (a_end - a) if tag == "delete" else without[b:b_end])


def _matcher(one: list[str], other: list[str]) -> SequenceMatcher[str]:
    return SequenceMatcher(None, [row.strip() for row in one], [row.strip() for row in other], autojunk=False)


def _indent(row: str) -> str:
    return row[: len(row) - len(row.lstrip())]


def _codes(report: analysis.Report) -> Counter[str]:
    return Counter(finding.code for finding in report.diagnostics)
