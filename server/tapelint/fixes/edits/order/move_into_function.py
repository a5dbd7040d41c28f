"""Compute something in every call: move a statement from above a function to the beginning of its body.

Targets: the statement, and what stands in the function. The function is defined below the statement, in its suite;
nothing below may change what the statement reads, and nothing outside the function may read what it assigns.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.name_resolution import leaves, read, written
from ...text.rows import block, indent_of, is_inline, must_stay_first, owns_rows, take_out, top_row
from ...text.source_editor import Place, SourceEditor

_LEAVING = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal)


def edits(editor: SourceEditor, statement: ast.AST, inside: ast.AST) -> list[Edit]:
    moved, path = editor.whole(statement), editor.path(inside)
    function = next((node for node in reversed(path) if isinstance(node, ast.FunctionDef)), None)
    if function is None or all(other is not function for other in moved.suite[moved.index + 1 :]):
        raise EditRefused("no function that is defined below it")
    _refuse_new_meaning(moved, function)
    first = next((s for s in function.body if not must_stay_first(editor.place(s))), None)
    if first is None or is_inline(editor, place := editor.place(first)):
        raise EditRefused("a function without rows of its own")
    text = block(editor, moved, indent_of(editor, place))
    return [
        take_out(editor, moved, with_comments=owns_rows(editor, moved.statement)),
        editor.insert(editor.row_start(top_row(editor, place)), text + editor.eol),
    ]


def _refuse_new_meaning(moved: Place, function: ast.FunctionDef) -> None:
    """Refuse where the statement computes something else in the function, or others need what it assigns."""
    statement, below = moved.statement, moved.suite[moved.index + 1 :]
    if not isinstance(statement, ast.Assign) or leaves([statement], _LEAVING):
        raise EditRefused("not an assignment")
    if not all(isinstance(target, (ast.Name, ast.Tuple, ast.List)) for target in statement.targets):
        raise EditRefused("more than variables")
    others = [other for other in below if other is not function]
    names, arguments = written([statement]), {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    if names & (read(others) | written(others)):
        raise EditRefused("what it assigns is needed elsewhere")
    if read([statement]) & (written(below) | arguments) or names & (written(function.body) | arguments):
        raise EditRefused("names that mean something else in the function")
