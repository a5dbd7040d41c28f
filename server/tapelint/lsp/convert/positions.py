"""Rows, columns and the three ways an editor may count them.

tapelint counts code points; an editor counts UTF-8, UTF-16 or UTF-32 units, whichever was negotiated. The letter after
a smiling face stands at 1 in tapelint's count and at 4, 2 or 1 in the editor's.

>>> [units("😀", encoding) for encoding in ("utf-8", "utf-16", "utf-32")]
[4, 2, 1]

Only ``\\r\\n``, ``\\n`` and ``\\r`` end a row. ``str.splitlines`` also cuts at form feeds and U+2028, which would
move every later row and corrupt the text with the first incremental edit.
"""

from __future__ import annotations

import re

from lsprotocol import types

from ...source.edit import Span

_ROW = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")


def split(text: str) -> list[str]:
    """The rows of ``text`` with their endings; the last one has none and may be empty.

    >>> split("a\\r\\nb\\x0c\\n")
    ['a\\r\\n', 'b\\x0c\\n', '']
    """
    rows = _ROW.findall(text)
    if not rows or rows[-1][-1] in "\r\n":
        rows.append("")
    return rows


def units(text: str, encoding: str) -> int:
    """How many units of ``encoding`` the editor counts in ``text``; lone surrogates count as editors count them."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(character > "\uffff" for character in text)


def code_points(text: str, count: int, encoding: str) -> int:
    """How many characters of ``text`` end within ``count`` units: past the end is the end, inside one is its start."""
    if encoding == "utf-32" or text.isascii():
        return max(0, min(count, len(text)))
    seen = 0
    for index, character in enumerate(text):
        seen += units(character, encoding)
        if seen > count:
            return index
    return len(text)


class LineIndex:
    """A text as its rows, edited in time proportional to the edit, and asked for positions in both counts."""

    def __init__(self, text: str) -> None:
        self._rows = split(text)

    @property
    def text(self) -> str:
        return "".join(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def with_endings(self) -> tuple[str, ...]:
        return tuple(self._rows)

    def row(self, row: int) -> str:
        """Row ``row`` (from 1) without its ending; rows outside the text are empty."""
        return self._rows[row - 1].rstrip("\r\n") if 0 < row <= len(self._rows) else ""

    def place(self, position: types.Position, encoding: str) -> tuple[int, int]:
        """Row and column, both from 1, of an editor's position; outside the text, the nearest place in it."""
        if position.line >= len(self._rows):
            return len(self._rows), len(self._rows[-1]) + 1
        row = self.row(position.line + 1)
        return position.line + 1, code_points(row, position.character, encoding) + 1

    def span(self, area: types.Range, encoding: str) -> Span:
        start, end = sorted((self.place(area.start, encoding), self.place(area.end, encoding)))
        return Span(*start, *end)

    def position(self, row: int, column: int, encoding: str) -> types.Position:
        """The editor's position of row ``row`` and column ``column``, both from 1."""
        if row > len(self._rows):
            row, column = len(self._rows), len(self._rows[-1]) + 1
        before = self.row(row)[: max(0, column - 1)]
        return types.Position(line=max(0, row - 1), character=units(before, encoding))

    def range(self, span: Span, encoding: str, row_offset: int = 0) -> types.Range:
        """The editor's range of a span; of a text of which the editor has only what is below ``above`` rows."""
        start = self.position(span.row, span.column, encoding)
        end = self.position(span.end_row, span.end_column, encoding)
        return types.Range(
            start=types.Position(start.line - row_offset, start.character),
            end=types.Position(end.line - row_offset, end.character),
        )

    def replace(self, span: Span, content: str) -> None:
        """Put ``content`` where ``span`` is. Neighbouring rows join in where the edit makes or breaks a ``\\r\\n``."""
        first, last = span.row - 1, span.end_row - 1
        head, tail = self._rows[first][: span.column - 1], self._rows[last][span.end_column - 1 :]
        if first > 0 and self._rows[first - 1].endswith("\r"):
            first -= 1
            head = self._rows[first] + head
        merged = head + content + tail
        while last + 1 < len(self._rows) and not merged.endswith("\n"):
            last += 1
            merged += self._rows[last]
        rows = split(merged)
        if last + 1 < len(self._rows):
            rows.pop()
        self._rows[first : last + 1] = rows
