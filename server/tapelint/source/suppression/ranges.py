"""From where to where a range of comments reaches.

    # tapelint: disable[TL101]      pairs by what they list, in the same order, and by their indentation, the first
    # tapelint: enable[TL101]       enable below a disable; without one a range ends with its block

The rules are those of ruff for ``# ruff: disable[...]``: https://docs.astral.sh/ruff/linter/#block-level
"""

from __future__ import annotations

from ...frozen import frozen
from ..lexing import indentation
from .grammar import Directive, Flaw, Form


@frozen
class Mark:
    """A beginning or an end: a comment that has its row to itself, with what stands before it."""

    directive: Directive
    indent: str

    def ends_with(self, other: Mark) -> bool:
        """Whether ``other``, which stands below, is the end of this beginning."""
        pair = self.directive.form, other.directive.form
        alike = (self.indent, self.directive.order) == (other.indent, other.directive.order)
        return alike and pair == (Form.DISABLE, Form.ENABLE)


@frozen
class Range:
    """The rows that a disable covers; ``end`` is the enable that belongs to it."""

    begin: Directive
    last: int
    end: Directive | None


class Ranges:
    """Reads a text from top to bottom and pairs the marks in it, block by block."""

    def __init__(self) -> None:
        self.found: list[Range] = []
        self.flawed: list[tuple[Directive, Flaw]] = []
        self._blocks = [""]
        """The indentation of the block that is read, and of those around it."""
        self._open: list[Mark] = []
        self._ahead: list[Mark] = []
        """Marks above a statement that is not read yet: it may begin or end a block."""

    def above(self, mark: Mark) -> None:
        """Take a mark between statements."""
        self._ahead.append(mark)

    def inside(self, mark: Mark) -> None:
        """Take a mark between the rows of a statement."""
        self._take(mark, mark.indent == self._blocks[-1])

    def statement(self, row: int, line: str) -> None:
        """A statement, or the header of one, begins on ``row``."""
        indent = indent_of(line)
        column = indentation(indent)
        is_same = column == indentation(self._blocks[-1])
        self._take_ahead(not is_same)
        while len(self._blocks) > 1 and column < indentation(self._blocks[-1]):
            self._close(self._blocks.pop(), row - 1)
        if column > indentation(self._blocks[-1]):
            self._blocks.append(indent)

    def end(self, row: int) -> None:
        """The text, or the cell, ends with ``row``."""
        self._take_ahead(len(self._blocks) > 1)
        while self._blocks:
            self._close(self._blocks.pop(), row)
        self._blocks = [""]

    def _take_ahead(self, changes: bool) -> None:
        """Marks beside the beginning or the end of a block may belong to either."""
        for mark in self._ahead:
            self._take(mark, changes or mark.indent == self._blocks[-1])
        self._ahead.clear()

    def _take(self, mark: Mark, fits: bool) -> None:
        if fits:
            self._open.append(mark)
        else:
            self.flawed.append((mark.directive, Flaw.INDENTATION))

    def _close(self, indent: str, last: int) -> None:
        """Pair the marks of a block that ends with the row ``last``; those of the blocks around it stay."""
        kept = [mark for mark in self._open if len(mark.indent) < len(indent)]
        own = [mark for mark in self._open if len(mark.indent) >= len(indent)]
        while own:
            mark = own.pop(0)
            end = next((other for other in own if mark.ends_with(other)), None)
            if end is not None:
                own.remove(end)
                self.found.append(Range(mark.directive, end.directive.span.row, end.directive))
            elif mark.directive.form is Form.DISABLE:
                self.found.append(Range(mark.directive, last, None))
                self.flawed.append((mark.directive, Flaw.UNMATCHED_DISABLE))
            else:
                self.flawed.append((mark.directive, Flaw.UNMATCHED_ENABLE))
        self._open = kept


def indent_of(line: str) -> str:
    """What a line begins with, without a byte order mark and what a form feed makes void."""
    line = line.removeprefix("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t\f"))].rpartition("\f")[2]


def stands_alone(line: str, column: int) -> bool:
    """Whether nothing but space is before a column, counted from 1."""
    return not line[: column - 1].strip(" \t\f\ufeff")
