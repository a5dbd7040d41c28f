"""Switch gradients off for the rest of a function only: ``torch.set_grad_enabled(False)`` becomes
``with torch.no_grad():`` over the statements below it.

Target: the call, a statement of a function's own.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.name_resolution import leaves, torch_name
from ...text.rows import indent_of, indent_unit, rows_within_strings
from ...text.source_editor import SourceEditor


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    place = editor.whole(target)
    no_grad = torch_name(editor, place, "no_grad")
    rest = place.suite[place.index + 1 :]
    if not isinstance(place.owner, (ast.FunctionDef, ast.AsyncFunctionDef)) or no_grad is None or not rest:
        raise EditRefused("not a statement of a function, or the last one")
    if leaves(rest, (ast.Yield, ast.YieldFrom, ast.Await)) or editor.shares_row(place.statement, rest[0]):
        raise EditRefused("the mode would leak while it is suspended")
    outer, unit = indent_of(editor, place), indent_unit(editor, place)
    made = [editor.edit(editor.begin(place.statement), editor.end(place.statement), f"with {no_grad}():")]
    top, bottom = editor.last_row(place.statement) + 1, editor.last_row(rest[-1])
    fixed = rows_within_strings(editor, rest[0], rest[-1])
    for row in range(top, bottom + 1):
        text = editor.rows[row - 1]
        if row not in fixed and text.strip():
            made.append(editor.insert(editor.row_start(row) + (len(outer) if text.startswith(outer) else 0), unit))
    return made
