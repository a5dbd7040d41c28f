"""Write to a copy: ``y[0] = 1`` becomes ``y = y.clone()`` and, below, ``y[0] = 1``.

Target: what writes a part of a tensor, or all of it: an assignment to ``y[0]``, ``y[0] += 1``, ``y.add_(1)``. Only what
has a name can be assigned anew, and only where no code would miss the old tensor; of a container it is the item.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.rows import put_before
from ...text.source_editor import SourceEditor
from ...text.tensor_values import is_container
from ...text.written import assignable, base_of


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    place = editor.place(target)
    written = _written(place.statement)
    while isinstance(written, ast.Subscript):
        if isinstance(written.value, (ast.Name, ast.Attribute)) and is_container(editor, written.value):
            return [put_before(editor, place, _item_again(editor, written))]
        written = base_of(written.value)
    name = assignable(editor, place, written)
    return [put_before(editor, place, f"{name} = {name}.clone()")]


def _item_again(editor: SourceEditor, item: ast.Subscript) -> str:
    """A copy of an item in its place: ``items[-1] = items[-1].clone()``."""
    if any(isinstance(part, (ast.Slice, ast.Call, ast.NamedExpr, ast.Await)) for part in ast.walk(item)):
        raise EditRefused("an item that is not the same when it is asked for again")
    text = editor.text_of(item)
    return f"{text} = {text}.clone()"


def _written(statement: ast.stmt) -> ast.expr:
    if isinstance(statement, ast.AugAssign):
        return base_of(statement.target)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Subscript):
            return target
    node = statement.value if isinstance(statement, ast.Expr) else None
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_"):
        node = node.func.value
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_")):
            return base_of(node)
    raise EditRefused("nothing with a name is written")
