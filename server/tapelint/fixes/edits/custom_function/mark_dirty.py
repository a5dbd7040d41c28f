"""Tell autograd of an in-place write in a Function's forward: ``ctx.mark_dirty(x)`` before it.

Target: the write: ``x.clamp_(min=0)``, ``x += 1``, ``F.relu_(x)`` or ``x[i] = y``, where ``x`` is a parameter of the
method and its first parameter is the context.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.name_resolution import qualified
from ...text.rows import put_before
from ...text.source_editor import Place, SourceEditor


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    place = editor.place(target)
    method = editor.scopes(place)[0]
    if not isinstance(method, ast.FunctionDef) or len(method.args.args) < 2:
        raise EditRefused("not in a method with a context")
    context, *names = (a.arg for a in method.args.args)
    written = _written(editor, place, target)
    if written not in names:
        raise EditRefused("not a parameter that is written")
    if any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "mark_dirty"
        for n in ast.walk(method)
    ):
        raise EditRefused("another call would replace the one there is")
    return [put_before(editor, place, f"{context}.mark_dirty({written})")]


def _written(editor: SourceEditor, place: Place, node: ast.AST) -> str | None:
    """The name of what a statement or call writes."""
    if isinstance(node, ast.Expr):
        node = node.value
    if isinstance(node, ast.AugAssign):
        node = node.target
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        node = node.targets[0]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        is_function = qualified(editor, place, node.func) is not None
        node = node.args[0] if is_function and node.args else node.func.value
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
