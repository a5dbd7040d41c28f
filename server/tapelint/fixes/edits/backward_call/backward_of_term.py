"""Go backward from what was added, not from the total: ``total += loss.detach()``, ``loss.backward()``.

Targets: the statement that adds, ``total += loss`` or ``total = total + loss``, and the call of ``total.backward()``
below it in the same suite. What is no name gets one.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.backward_calls_text import as_call
from ...text.concrete_syntax import Concrete, append_call
from ...text.edit_refused import EditRefused
from ...text.name_resolution import read, written
from ...text.rows import put_before
from ...text.source_editor import SourceEditor, siblings

_NAMES = ("term", "addend")


def edits(editor: SourceEditor, statement: ast.AST, call: ast.AST) -> list[Edit]:
    adds, goes = editor.place(statement), editor.place(call)
    total, term = _sum(adds.statement)
    root = _root(goes.statement, as_call(call))
    siblings([adds, goes])
    between = adds.suite[adds.index + 1 : goes.index]
    if goes.index < adds.index or ast.unparse(root) != total or written(between) & read([term, root]):
        raise EditRefused("it does not go backward from what was added")
    if isinstance(term, (ast.Name, ast.Attribute)):
        name = ast.unparse(term)
        detached = append_call(Concrete(editor, term), term, ".detach()")
    else:
        name = _new_name(editor)
        whole = [put_before(editor, adds, f"{name} = {_one_row(editor, term)}")]
        detached = [*whole, editor.edit(editor.begin(term), editor.end(term), f"{name}.detach()")]
    return [*detached, editor.edit(editor.begin(root), editor.end(root), name)]


def _sum(statement: ast.stmt) -> tuple[str, ast.expr]:
    """What a statement adds to, as it is written, and what it adds."""
    match statement:
        case ast.AugAssign(ast.Name() | ast.Attribute() as target, ast.Add(), value):
            return ast.unparse(target), value
        case ast.Assign([ast.Name() | ast.Attribute() as target], ast.BinOp(left, ast.Add(), right)):
            if ast.unparse(left) == ast.unparse(target):
                return ast.unparse(target), right
            if ast.unparse(right) == ast.unparse(target):
                return ast.unparse(target), left
    raise EditRefused("nothing is added")


def _root(statement: ast.stmt, call: ast.AST) -> ast.expr:
    if not isinstance(statement, ast.Expr) or statement.value is not call or not isinstance(call, ast.Call):
        raise EditRefused("not a statement of its own")
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "backward":
        raise EditRefused("not a plain backward")
    return call.func.value


def _new_name(editor: SourceEditor) -> str:
    taken = read([editor.source.tree]) | written([editor.source.tree])
    for name in _NAMES:
        if name not in taken:
            return name
    raise EditRefused("no name is left")


def _one_row(editor: SourceEditor, term: ast.expr) -> str:
    text = editor.text_of(term)
    if "\n" in text or "\r" in text:
        raise EditRefused("more than one row")
    return text
