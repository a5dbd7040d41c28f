"""Inserting a row of code after a statement."""

from __future__ import annotations

import ast

from ...source.edit import Edit
from .edit_refused import EditRefused
from .rows import indent_of, is_inline
from .source_editor import SourceEditor


def put_after(sheet: SourceEditor, statement: ast.AST, text: str) -> Edit:
    """``text``, given without indentation, on a row of its own after a statement that ends its row."""
    place = sheet.whole(statement)
    if is_inline(sheet, place):
        raise EditRefused("a suite on the row of its header")
    if place.index + 1 < len(place.suite) and sheet.shares_row(place.statement, place.suite[place.index + 1]):
        raise EditRefused("more follows on the row")
    row = sheet.last_row(place.statement)
    content = indent_of(sheet, place) + text + sheet.eol
    if row < len(sheet.rows):
        return sheet.insert(sheet.row_start(row + 1), content)
    end = len(sheet.text)
    return sheet.insert(end, ("" if sheet.text.endswith(("\n", "\r")) else sheet.eol) + content)
