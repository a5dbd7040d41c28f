"""What a suppression comment hides.

**`# tapelint: disable[TL201]`** · lines 3 to 9 · hides one finding
- TL201, line 4: Writes `y` in place, but `exp` saved it for `y.sum().backward()`
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import analysis
from ..analysis.locations import Hidden
from ..report.diagnostic import Related, place
from ..report.in_cells import place_in_cells
from ..rules.support.comments import OURS, is_ours
from ..source import Directive, Form, Source, Span, Suppression
from ..source.lexing import is_blank

MOST = 6
"""So many findings are listed; the others are counted."""


def described(report: analysis.Report, row: int, column: int) -> tuple[Span, list[str]] | None:
    """The comment at a place, and what there is to say about it; None where there is none."""
    source = report.source
    for entry in source.suppressions.entries:
        for says in (entry.says, entry.end):
            if says is not None and says.span.holds(row, column):
                lines = [*_lines(report, entry, says)]
                return (says.span, lines) if lines[1:] or _is_ours(says) else None
    for flawed in source.suppressions.flawed:
        if flawed.says.span.holds(row, column):
            return flawed.says.span, [f"{_quoted(source, flawed.says)} · hides nothing"]
    return None


def _is_ours(says: Directive) -> bool:
    """Whether a comment is about findings of tapelint: one in the words of other tools if it lists a code of ours."""
    return is_ours(says) or any(OURS.fullmatch(word.text) for word in says.listed or ())


def _lines(report: analysis.Report, entry: Suppression, says: Directive) -> Iterator[str]:
    hidden = [each for each in report.hidden if _hides(entry, each)]
    count = f"{len(hidden)} findings" if len(hidden) > 1 else "one finding" if hidden else _nothing(report)
    yield " · ".join([_quoted(report.source, says), _reach(report.source, entry), f"hides {count}"])
    for each in hidden[:MOST]:
        at = each.diagnostic
        yield f"- {at.code}, {_where(report.source, Related(at.message, at.filename, at.span))}: {at.message}"
    if len(hidden) > MOST:
        yield f"- and {len(hidden) - MOST} more"


def _nothing(report: analysis.Report) -> str:
    """What a comment hides that nothing is known to be hidden by: another file may show what this one does not."""
    is_imported = report.inputs.is_imported
    return "nothing that this file shows by itself" if is_imported and is_imported(report.path) else "nothing"


def _hides(entry: Suppression, hidden: Hidden) -> bool:
    at = hidden.diagnostic
    return any(entry.covers(at.code, row, at.name) for row in hidden.rows)


def _quoted(source: Source, says: Directive) -> str:
    text = source.lines[says.span.row - 1][says.span.column - 1 : says.span.end_column - 1]
    return f"**`{text}`**"


def _reach(source: Source, entry: Suppression) -> str:
    """The rows that a comment covers, as the reader of a notebook counts them."""
    if entry.is_for_file:
        return "the whole notebook" if source.cells else "the whole file"
    if entry.first > entry.last:
        return "no line"
    first = entry.first
    while first < entry.last and entry.says.form is not Form.DISABLE and is_blank(source.lines[first - 1]):
        first += 1
    first, last = _row(source, first), _row(source, entry.last)
    return f"line {first}" if first >= last else f"lines {first} to {last}"


def _row(source: Source, row: int) -> int:
    return place_in_cells(source, Span(row, 1, row, 1))[1].row


def _where(source: Source, link: Related) -> str:
    if link.filename != source.path or not source.cells:
        return place(link, source.path)
    name, span = place_in_cells(source, link.span)
    return f"{name.rpartition(':')[2]} line {span.row}"
