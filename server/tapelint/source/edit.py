"""Where something stands in a text, in the units people and editors count in, and changes to a text as data.

>>> Span(2, 5, 2, 9)
2:5-2:9
>>> apply("a = b\\n", [Edit(Span(1, 6, 1, 6), ".detach()")])
'a = b.detach()\\n'
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from ..frozen import frozen


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of text: rows from 1, columns in characters (code points) from 1, the end exclusive."""

    row: int
    column: int
    end_row: int
    end_column: int

    def __repr__(self) -> str:
        return f"{self.row}:{self.column}-{self.end_row}:{self.end_column}"

    def holds(self, row: int, column: int) -> bool:
        """Whether a cursor at ``row``, ``column`` touches this span (its end included, as editors do)."""
        return (self.row, self.column) <= (row, column) <= (self.end_row, self.end_column)


_ROW_END = re.compile(r"\r\n|\r|\n")


@frozen
class Edit:
    """Replace the text of ``span`` by ``content``; an empty span inserts."""

    span: Span
    content: str


def line_starts(text: str) -> list[int]:
    """Offsets at which the rows of ``text`` begin; only ``\\n``, ``\\r\\n`` and ``\\r`` end one, as in LSP."""
    return [0, *(found.end() for found in _ROW_END.finditer(text))]


def rows(text: str) -> list[str]:
    """The rows of ``text`` without their ends."""
    return [text[begin:end].rstrip("\r\n") for begin, end in pairwise([*line_starts(text), len(text)])]


def apply(text: str, edits: Iterable[Edit]) -> str:
    """``text`` with all ``edits`` made; they must not overlap. Raises ValueError where they do."""
    starts = line_starts(text)

    def offset(row: int, column: int) -> int:
        return min(starts[min(row, len(starts)) - 1] + column - 1, len(text))

    limit = len(text) + 1
    for edit in sorted(edits, key=lambda e: e.span, reverse=True):
        begin = offset(edit.span.row, edit.span.column)
        end = offset(edit.span.end_row, edit.span.end_column)
        if end > limit:
            raise ValueError(f"edits overlap at {edit.span!r}")
        text, limit = text[:begin] + edit.content + text[end:], begin
    return text


def difference(old: str, new: str) -> tuple[Edit, ...]:
    """The edits that make ``new`` of ``old``, whole rows at a time."""
    starts = line_starts(old)
    before, after = ([text[a:b] for a, b in pairwise([*line_starts(text), len(text)])] for text in (old, new))
    end_of_text = len(starts), len(old) - starts[-1] + 1

    def row_start(index: int) -> tuple[int, int]:
        return (index + 1, 1) if index < len(starts) else end_of_text

    blocks = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return tuple(
        Edit(Span(*row_start(begin), *row_start(end)), "".join(after[first:last]))
        for kind, begin, end, first, last in blocks
        if kind != "equal"
    )
