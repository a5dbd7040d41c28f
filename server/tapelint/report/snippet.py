"""A piece of source with line numbers and carets, aligned whatever the width of its signs, cut where it is too wide.

>>> from .paint import printed
>>> from .look import PLAIN
>>> print(printed(snippet({1: "loss.backward()", 2: "step()"}, Span(1, 1, 1, 5), 2, context=1), PLAIN), end="")
   |
 1 | loss.backward()
   | ^^^^
 2 | step()
   |
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate

from rich.cells import cell_len, split_graphemes
from rich.text import Text

from ..source import Span
from .block import MOST_ROWS, Row
from .look import WIDTH, printable
from .paint import joined, styled

_TAB = 4
"""Columns between the stops of tabs."""
_CUT = "..."
_BEFORE = 3
"""The part of a cut row, one in so many, that is shown before the finding."""


def snippet(
    known: Mapping[int, str], span: Span, gutter: int, width: int = WIDTH, severity: str = "error", context: int = 0
) -> list[Text]:
    """The rows of ``span``, underlined, and so many of ``context`` around it; their numbers take ``gutter`` columns.
    Empty where none of its rows is ``known``.
    """
    inside = [row for row in range(span.row, span.end_row + 1) if row in known]
    if span.row not in known:
        return []
    code = _Code(gutter, width, "" if len(inside) == 1 else "  ")
    rows = [code.edge()]
    rows += code.around(known, range(span.row - context, span.row))
    rows += _underlined(known, span, code, severity) if len(inside) == 1 else _embraced(known, span, code, severity)
    if context:
        rows += [*code.around(known, range(span.end_row + 1, span.end_row + context + 1)), code.edge()]
    return rows


def changed(groups: Iterable[Iterable[Row]], gutter: int, width: int = WIDTH) -> Iterator[Text]:
    """What a fix takes away and puts there, between rows that stay."""
    code = _Code(gutter, width)
    yield code.edge()
    for number, group in enumerate(groups):
        if number:
            yield styled("." * min(gutter, len(_CUT)), "gutter")
        for row in group:
            text, begin, end = _cut(*_spread(row.text, row.begin, row.end), code.room)
            if row.sign == " ":
                yield code.numbered(row.number, text)
                continue
            style = "removed" if row.sign == "-" else "added"
            shown = styled(text, style)
            shown.stylize("bold underline", begin, end)
            counted = " " * gutter if row.sign == "-" else f"{row.number:>{gutter}}"
            yield joined(styled(f"{counted} {row.sign} ", style), shown)
    yield code.edge()


def columns_for(numbers: Iterable[int]) -> int:
    """How many columns the numbers of rows need."""
    return len(str(max(numbers)))


class _Code:
    """Rows of code beside their numbers, and rows beside these, each ``indent`` from the edge."""

    def __init__(self, gutter: int, width: int, indent: str = "") -> None:
        self.gutter, self.indent = gutter, indent
        self.room = max(width - gutter - 3 - len(indent), len(_CUT) * 3)

    def edge(self) -> Text:
        """The row above all, or below."""
        return styled(f"{'':{self.gutter}} |", "gutter")

    def beside(self, *parts: Text | str) -> Text:
        """A row below one of code."""
        return joined(self.edge(), " ", *parts)

    def numbered(self, number: int, text: str, mark: Text | None = None) -> Text:
        """A row of code, with what marks it instead of the indent."""
        shown = styled(text)
        return joined(styled(f"{number:>{self.gutter}} |", "gutter"), " ", mark or self.indent, shown)

    def around(self, known: Mapping[int, str], numbers: Iterable[int]) -> Iterator[Text]:
        """The rows of these numbers, where there is something in them."""
        for number in numbers:
            if known.get(number, "").strip():
                yield self.numbered(number, _cut(*_spread(known[number]), self.room)[0])


def _underlined(known: Mapping[int, str], span: Span, code: _Code, severity: str) -> Iterator[Text]:
    """One row with carets."""
    line = known[span.row]
    end = span.end_column - 1 if span.row == span.end_row else len(line.rstrip())
    text, begin, end = _cut(*_spread(line, span.column - 1, end), code.room)
    yield code.numbered(span.row, text)
    carets = "^" * max(1, cell_len(printable(text[begin:end])))
    yield code.beside(" " * cell_len(printable(text[:begin])), styled(carets, severity))


def _embraced(known: Mapping[int, str], span: Span, code: _Code, severity: str) -> Iterator[Text]:
    """Several rows with a line on their left, from where the span begins to where it ends."""
    last = min(span.end_row, max(known))
    bar = styled("| ", severity)
    text, begin, _ = _cut(*_spread(known[span.row], span.column - 1, span.column), code.room)
    if text[:begin].strip():
        yield code.numbered(span.row, text)
        yield code.beside(" ", styled(f"{'_' * (cell_len(printable(text[:begin])) + 1)}^", severity))
    else:
        yield code.numbered(span.row, text, styled("/ ", severity))
    is_whole = last - span.row < MOST_ROWS
    for row in range(span.row + 1, last):
        if is_whole or row < span.row + MOST_ROWS // 2:
            yield code.numbered(row, _cut(*_spread(known[row]), code.room)[0], bar)
    if not is_whole:
        yield joined(styled("." * min(code.gutter, len(_CUT)), "gutter"), " " * max(3, code.gutter), bar)
    line = known[last]
    end = span.end_column - 1 if last == span.end_row else len(line.rstrip())
    text, _, end = _cut(*_spread(line, 0, max(end, 1)), code.room)
    yield code.numbered(last, text, bar)
    yield code.beside(styled(f"|{'_' * cell_len(printable(text[:end]))}^", severity))


def _spread(line: str, begin: int = 0, end: int = 0) -> tuple[str, int, int]:
    """A row with its tabs as blanks, as wide here as everywhere, and where ``begin`` and ``end`` are in it then."""
    if "\t" not in line:
        return line, begin, end
    places, text = [0], ""
    for sign in line:
        text += " " * (_TAB - cell_len(printable(text)) % _TAB) if sign == "\t" else sign
        places.append(len(text))
    return text, places[min(begin, len(line))], places[min(end, len(line))]


def _cut(line: str, begin: int, end: int, room: int) -> tuple[str, int, int]:
    """What of a row to show in ``room`` cells, with ``begin`` and ``end`` in it: its beginning where enough of what is
    between them has a place in that, else what is around them.
    """
    line = printable(line)
    signs, total = split_graphemes(line)
    if max(total, cell_len(line[:begin]) + 1) <= room or not signs:
        return line, begin, end
    starts = [start for start, _, _ in signs]
    cells = [0, *accumulate(size for _, _, size in signs)]  # before each sign, and of all
    where = cells[bisect_right(starts, begin) - 1]
    if where <= room // 2 or cells[bisect_right(starts, max(end - 1, 0))] <= room - len(_CUT):
        left = 0
    else:
        free = room - 2 * len(_CUT)
        left = bisect_right(cells, max(0, min(where - free // _BEFORE, total - free)))
        left = min(left, bisect_right(starts, begin) - 1)
    before = _CUT if left else ""
    most = cells[left] + room - len(before)
    right = len(signs) if total <= most else bisect_right(cells, most - len(_CUT)) - 1
    first, after = starts[left], "" if right == len(signs) else _CUT
    last = len(line) if right == len(signs) else starts[right]
    shift = len(before) - first
    return before + line[first:last] + after, begin + shift, max(min(end, last), begin) + shift
