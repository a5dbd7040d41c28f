"""Statements that set a tensor's ``requires_grad``: ``y.requires_grad = False``, ``y.requires_grad_(False)``."""

from __future__ import annotations

import ast

from .edit_refused import EditRefused
from .name_resolution import dotted
from .source_editor import SourceEditor


def flagged(editor: SourceEditor, target: ast.AST) -> tuple[ast.stmt, str]:
    """The whole statement, and the tensor whose flag it sets as it is written."""
    statement = editor.place(target).statement
    holder: ast.expr | None = None
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        holder = statement.targets[0]
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        holder = statement.value.func
    if not isinstance(holder, ast.Attribute) or holder.attr not in ("requires_grad", "requires_grad_"):
        raise EditRefused("not a statement that only sets the flag")
    if dotted(holder.value) is None:
        raise EditRefused("not a name or an attribute")
    return statement, ast.unparse(holder.value)
