"""Inserting a row of code after a statement."""

from __future__ import annotations

import ast

from ...source.edit import Edit
from .edit_refused import EditRefused
from .rows import indent_of, is_inline
from .source_editor import SourceEditor


def put_after(editor: SourceEditor, statement: ast.AST, text: str) -> Edit:
    """``text``, given without indentation, on a row of its own after a statement that ends its row."""
    place = editor.whole(statement)
    if is_inline(editor, place):
        raise EditRefused("a suite on the row of its header")
    if place.index + 1 < len(place.suite) and editor.shares_row(place.statement, place.suite[place.index + 1]):
        raise EditRefused("more follows on the row")
    row = editor.last_row(place.statement)
    content = indent_of(editor, place) + text + editor.eol
    if row < len(editor.rows):
        return editor.insert(editor.row_start(row + 1), content)
    end = len(editor.text)
    return editor.insert(end, ("" if editor.text.endswith(("\n", "\r")) else editor.eol) + content)
