"""What the rules about suppression comments share: whose comment it is, which rule a word of it means, and how a word
is taken out of one.

y += 1  # tapelint: ignore[TL201, TL101] because     less TL101: # tapelint: ignore[TL201] because
y += 1  # noqa: TL101  # why                         less TL101: # why
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from ...source import Directive, Edit, Form, Listed, Source, Span, Suppression, cell_at

OURS = re.compile(r"TL[0-9]+", re.IGNORECASE)


def is_ours(says: Directive) -> bool:
    """Whether a comment speaks to tapelint alone; ``noqa`` speaks to other tools as well."""
    return says.form is not Form.NOQA


def code_of(word: Listed, names: Mapping[str, str]) -> str | None:
    """The code of the rule that a word of a comment means, by code or by name; None where there is none."""
    if word.text.upper() in names:
        return word.text.upper()
    return next((code for code, name in names.items() if name == word.text.lower()), None)


def without(source: Source, entry: Suppression, words: Collection[Listed]) -> tuple[Edit, ...]:
    """The edits that take ``words`` out of a comment, and the comment away where nothing is left of it; at both ends of
    a range, which list the same in the same order.
    """
    gone = {index for index, word in enumerate(entry.says.listed or ()) if word in words}
    ends = [entry.says, *([entry.end] if entry.end else [])]
    return tuple(_less(source, says, gone) for says in ends)


def removed(source: Source, span: Span) -> Edit:
    """The edit that takes a comment away, with its reason and with its row if that has nothing else."""
    row, line = span.row, source.lines[span.row - 1]
    begin, end = span.column - 1, line.find("#", span.end_column - 1)
    if end >= 0:  # another comment follows and takes its place
        return Edit(Span(row, begin + 1, row, end + 1), "")
    before = line[:begin].rstrip()
    cell = cell_at(source.cells, row)
    if before or row == (cell.last if cell else len(source.lines)):
        return Edit(Span(row, len(before) + 1, row, len(line) + 1), "")
    return Edit(Span(row, 1, row + 1, 1), "")


def _less(source: Source, says: Directive, gone: Collection[int]) -> Edit:
    listed = says.listed or ()
    kept = [word for index, word in enumerate(listed) if index not in gone]
    if not kept:
        return removed(source, says.span)
    row, begin, end = says.span.row, listed[0].span.column, listed[-1].span.end_column
    if len(gone) > 1:
        return Edit(Span(row, begin, row, end), ", ".join(word.text for word in kept))
    (at,) = gone
    if at == len(listed) - 1:
        return Edit(Span(row, listed[at - 1].span.end_column, row, end), "")
    return Edit(Span(row, listed[at].span.column, row, listed[at + 1].span.column), "")
