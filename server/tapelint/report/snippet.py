"""A piece of source with line numbers and carets, aligned whatever the width of its signs.

>>> print(snippet(["loss.backward()"], Span(1, 1, 1, 5), 2))
   |
 1 | loss.backward()
   | ^^^^
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from ..source import Span
from .style import Style, plain

# Signs that make a terminal show text in another order than it is executed in.
_REORDERING = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
_MOST_ROWS = 4
_MOST_COLUMNS = 160
_BEFORE = 50


def snippet(lines: Sequence[str], span: Span, gutter: int, severity: str = "error", style: Style = plain) -> str:
    """The rows of ``span``, underlined, their numbers in ``gutter`` columns; empty if ``lines`` has none of them."""
    edge = style("gutter", " " * gutter + " |")
    shown = [edge]
    for row in range(span.row, min(span.end_row, len(lines)) + 1):
        if row - span.row == _MOST_ROWS:
            shown.append(style("gutter", "." * min(3, gutter)))
            break
        line = lines[row - 1]
        begin = span.column - 1 if row == span.row else len(line) - len(line.lstrip())
        end = span.end_column - 1 if row == span.end_row else len(line.rstrip())
        line, begin, end = _crop(line, begin, max(end, begin + 1))
        shown.append(f"{style('gutter', f'{row:>{gutter}} |')} {printable(line)}".rstrip())
        shown.append(f"{edge} {_padding(line[:begin])}{style(severity, '^' * max(1, _width(line[begin:end])))}")
    return "\n".join(shown) if len(shown) > 1 else ""


def printable(text: str) -> str:
    """Text that cannot move a terminal's cursor: every control character but the tab as ``\\ufffd``."""
    if text.isprintable():
        return text
    return "".join(sign if sign == "\t" or not _is_control(sign) else "\ufffd" for sign in text)


def _crop(line: str, begin: int, end: int) -> tuple[str, int, int]:
    """What of a very long line to show, with ``begin`` and ``end`` in it."""
    if len(line) <= _MOST_COLUMNS:
        return line, begin, end
    left = max(0, min(begin - _BEFORE, len(line) - _MOST_COLUMNS))
    right = left + _MOST_COLUMNS
    before, after = "..." if left else "", "..." if right < len(line) else ""
    shift = len(before) - left
    return before + line[left:right] + after, begin + shift, min(end, right) + shift


def _is_control(sign: str) -> bool:
    return unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp") or unicodedata.bidirectional(sign) in _REORDERING


def _padding(text: str) -> str:
    """White space as wide as ``text``: a tab stays a tab, whatever the terminal makes of it."""
    if text.isascii():
        return "".join(sign if sign == "\t" else " " for sign in text)
    return "".join(sign if sign == "\t" else " " * _width(sign) for sign in text)


def _width(text: str) -> int:
    """The number of terminal cells ``text`` takes."""
    if text.isascii():
        return len(text)
    return sum(_cells(sign) for sign in text)


def _cells(sign: str) -> int:
    if unicodedata.category(sign) in ("Mn", "Me", "Cf") and not _is_control(sign):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1
