"""The cells of a notebook, as stretches of the one text that they make up.

cell 1   import torch                 row 1 of the program
cell 2   (a text)                     no part of it
cell 3   w = torch.ones(3)            row 2
         w.sum()                      row 3, which is row 2 of its cell
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from .edit import Edit
from .span import Span


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell: its ``number`` in the notebook, where cells of every kind count from 1, and its rows of the text."""

    number: int
    first: int
    rows: int

    @property
    def last(self) -> int:
        return self.first + self.rows - 1

    def own(self, span: Span) -> Span:
        """A span of the program in the rows of this cell."""
        above = self.first - 1
        return Span(span.row - above, span.column, span.end_row - above, span.end_column)


def cell_at(cells: Sequence[Cell], row: int) -> Cell | None:
    """The cell that holds a row of the program; None where there are no cells."""
    index = bisect_right(cells, row, key=lambda cell: cell.first)
    return cells[max(0, index - 1)] if cells else None


def moved(cells: Sequence[Cell], edits: Iterable[Edit]) -> tuple[Cell, ...]:
    """The cells of the text that ``edits`` make: each edit adds its rows to the cell it begins in."""
    grown = dict.fromkeys((cell.number for cell in cells), 0)
    for edit in edits:
        inside = cell_at(cells, edit.span.row)
        if inside is not None:
            grown[inside.number] += edit.content.count("\n") - (edit.span.end_row - edit.span.row)
    above, after = 0, []
    for cell in cells:
        after.append(replace(cell, first=cell.first + above, rows=cell.rows + grown[cell.number]))
        above += grown[cell.number]
    return tuple(after)
