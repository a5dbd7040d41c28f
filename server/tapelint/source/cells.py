"""The cells of a notebook, as stretches of the one text that they make up.

cell 1   import torch                 row 1 of the program
cell 2   (a text)                     no part of it
cell 3   w = torch.ones(3)            row 2
         w.sum()                      row 3, which is row 2 of its cell
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ..frozen import frozen
from .edit import Edit, Span, difference, rows


@frozen
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


def in_cell(edit: Edit, cells: Sequence[Cell], lines: Sequence[str]) -> Edit | None:
    """An edit of the text that stands in one cell, where it begins; None where there is none that does the same.

    Whole lines that are put where a cell begins go to the end of the one above if they continue its last block: a
    cell cannot begin indented. The end of the last row of a cell goes with the row: a cell has none there. Where rows
    are taken from the beginning or the end of a cell, so are the empty ones that would be left there. ``lines`` are the
    rows of the text.
    """
    span = edit.span
    cell = cell_at(cells, span.row)
    if cell is None:
        return None
    if (span.row, span.column) == (span.end_row, span.end_column):
        return _inserted(edit, cell, cells, lines)
    if (span.end_row, span.end_column) == (cell.last + 1, 1):
        return _with_last_row(edit, cell, lines)
    if span.end_row > cell.last:
        return None
    is_at_top = not edit.content and (span.row, span.column, span.end_column) == (cell.first, 1, 1)
    return _with_empty_rows(edit, cell, lines) if is_at_top else edit


def _inserted(edit: Edit, cell: Cell, cells: Sequence[Cell], lines: Sequence[str]) -> Edit:
    """An insertion, where it belongs to the cell above that one's end."""
    row, above = edit.span.row, cell_at(cells, edit.span.row - 1)
    continues = row > cell.last or above != cell and edit.content[:1].isspace()
    if edit.span.column != 1 or above is None or not continues:
        return edit
    end = len(lines[above.last - 1]) + 1
    return Edit(Span(above.last, end, above.last, end), "\n" + edit.content.removesuffix("\n"))


def _with_last_row(edit: Edit, cell: Cell, lines: Sequence[str]) -> Edit:
    """An edit of rows up to the end of a cell, without the end of its last row."""
    span, end = edit.span, len(lines[cell.last - 1]) + 1
    if edit.content.endswith("\n"):
        return Edit(Span(span.row, span.column, cell.last, end), edit.content.removesuffix("\n"))
    if not edit.content and span.column == 1 and span.row > cell.first:
        above = span.row - 1
        while above > cell.first and not lines[above - 1].strip():
            above -= 1
        return Edit(Span(above, len(lines[above - 1]) + 1, cell.last, end), "")
    return edit


def _with_empty_rows(edit: Edit, cell: Cell, lines: Sequence[str]) -> Edit:
    """The removal of rows with the empty ones that follow."""
    below = edit.span.end_row
    while below < cell.last and not lines[below - 1].strip():
        below += 1
    return Edit(Span(edit.span.row, 1, below, 1), "")


def changes(old: str, old_cells: Sequence[Cell], new: str, new_cells: Sequence[Cell]) -> Iterator[Edit]:
    """The edits that make the text ``new`` of ``old``, each within a cell; both have the same cells, or none."""
    if not old_cells:
        yield from difference(old, new)
        return
    before, after = rows(old), rows(new)
    for was, now in zip(old_cells, new_cells, strict=True):
        above = was.first - 1
        for edit in difference(_joined(before[above : was.last]), _joined(after[now.first - 1 : now.last])):
            span = edit.span
            moved_down = Span(span.row + above, span.column, span.end_row + above, span.end_column)
            placed = in_cell(Edit(moved_down, edit.content), old_cells, before)
            if placed is not None:
                yield placed


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
