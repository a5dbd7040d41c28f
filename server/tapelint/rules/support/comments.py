"""What the rules about suppression comments share: whose comment it is, and how a code is taken out of one.

y += 1  # tapelint: ignore[TL201, TL101] because     less TL101: # tapelint: ignore[TL201] because
y += 1  # noqa: TL101  # why                         less TL101: # why
"""

from __future__ import annotations

import re
from collections.abc import Collection

from ...source import Edit, Source, Span, Suppression

OURS = re.compile(r"TL[0-9]+")
_LISTS = (re.compile(r"\[([^\]]*)\]"), re.compile(r"noqa\s*:\s*(.*)$", re.IGNORECASE))


def text(source: Source, entry: Suppression) -> str:
    """A comment as it is written, without what follows its codes."""
    return source.lines[entry.span.row - 1][entry.span.column - 1 : entry.span.end_column - 1]


def is_ours(source: Source, entry: Suppression) -> bool:
    """Whether a comment speaks to tapelint alone; ``noqa`` speaks to other tools as well."""
    return "tapelint" in text(source, entry).lower()


def without(source: Source, entry: Suppression, codes: Collection[str]) -> tuple[Edit, ...]:
    """The edits that take ``codes`` out of a comment, and the comment away where nothing is left of it."""
    row, line = entry.span.row, source.lines[entry.span.row - 1]
    comment = text(source, entry)
    listed = next((found for pattern in _LISTS if (found := pattern.search(comment))), None)
    if listed and (kept := [c for c in re.split(r"[\s,]+", listed[1].strip()) if c and c.upper() not in codes]):
        begin = entry.span.column + listed.start(1)
        return (Edit(Span(row, begin, row, begin + len(listed[1])), ", ".join(kept)),)
    begin, end = entry.span.column - 1, line.find("#", entry.span.end_column - 1)
    if end >= 0:  # another comment follows and takes its place
        return (Edit(Span(row, begin + 1, row, end + 1), ""),)
    before = line[:begin].rstrip()
    if before or row == len(source.lines):
        return (Edit(Span(row, len(before) + 1, row, len(line) + 1), ""),)
    return (Edit(Span(row, 1, row + 1, 1), ""),)
