"""Findings in a notebook as its reader sees them: each cell is named like a file of its own, with rows from 1.

train.ipynb:cell 3:2:1: error[TL101] ...
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from ..source import Cell, Edit, Source, Span, cell_at
from .diagnostic import Diagnostic, Fix, Related

Place = TypeVar("Place", Diagnostic, Related)


def in_cells(diagnostic: Diagnostic, source: Source) -> Diagnostic:
    """A finding in the program of ``source``, reported in cells; the same where that is no notebook."""
    if not source.cells:
        return diagnostic
    related = tuple(_in_cell(link, source) for link in diagnostic.related)
    return replace(_in_cell(diagnostic, source), related=related)


def in_file(diagnostic: Diagnostic, source: Source) -> Diagnostic:
    """The same for those who know files only: rows are those of the cell, and the text says which."""
    converted = in_cells(diagnostic, source)
    related = tuple(_in_file(link, source) for link in converted.related)
    return replace(_in_file(converted, source), related=related)


def _in_file(place: Place, source: Source) -> Place:
    if not place.filename.startswith(f"{source.path}:cell "):
        return place
    return replace(place, filename=source.path, message=f"{place.filename[len(source.path) + 1 :]}: {place.message}")


def _in_cell(place: Place, source: Source) -> Place:
    if place.filename != source.path:
        return place
    name, span = place_in_cells(source, place.span)
    return replace(place, filename=name, span=span)


def place_in_cells(source: Source, span: Span) -> tuple[str, Span]:
    """The name of the cell that a span of a notebook begins in, and the span in rows of that cell."""
    cell = cell_at(source.cells, span.row)
    return (source.path, span) if cell is None else (cell_name(source.path, cell), cell.own(span))


def cell_name(path: str, cell: Cell) -> str:
    return f"{path}:cell {cell.number}"


def rows_in_cells(source: Source) -> dict[str, Sequence[str]]:
    """The rows of the file by its name, and those of its cells by the names they have in findings."""
    known: dict[str, Sequence[str]] = {source.path: source.lines}
    for cell in source.cells:
        known[cell_name(source.path, cell)] = source.lines[cell.first - 1 : cell.last]
    return known


def fixes_in_cell(fixes: Sequence[Fix], source: Source, filename: str) -> Sequence[Fix]:
    """The fixes with their edits in the rows of the cell of that name; without edits where they are in other cells."""
    cell = next((cell for cell in source.cells if cell_name(source.path, cell) == filename), None)
    if cell is None:
        return [replace(fix, edits=()) for fix in fixes] if source.cells and filename != source.path else fixes
    return [replace(fix, edits=_own_edits(fix, source, cell)) for fix in fixes]


def _own_edits(fix: Fix, source: Source, cell: Cell) -> tuple[Edit, ...]:
    if any(cell_at(source.cells, edit.span.row) is not cell for edit in fix.edits):
        return ()
    return tuple(replace(edit, span=cell.own(edit.span)) for edit in fix.edits)
