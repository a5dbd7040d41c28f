"""What an in-place operation writes into, and whether its name may get a new meaning instead."""

from __future__ import annotations

import ast

from .edit_refused import EditRefused
from .inplace_twins import VIEWS
from .lifetimes import is_only_written, is_read_again, is_shared
from .name_resolution import dotted, is_local
from .source_editor import Place, SourceEditor


def base_of(operand: ast.expr) -> ast.expr:
    """What the memory of an expression belongs to, as far as its views tell."""
    while True:
        function = operand.func if isinstance(operand, ast.Call) else operand
        if not isinstance(function, ast.Attribute) or function.attr not in VIEWS:
            return operand
        operand = function.value


def assignable(editor: SourceEditor, place: Place, target: ast.expr, *, declared: bool = False) -> str:
    """The name that may be assigned anew; refused where it would be missed that it no longer means the same tensor."""
    name = dotted(target)
    if name is None:
        raise EditRefused("not a name or an attribute")
    if isinstance(target, ast.Name):
        if not declared and not is_local(editor, place, name):
            raise EditRefused("a variable of another scope")
        if is_shared(editor, place, name):
            if not is_read_again(editor, place, name) or is_only_written(editor, place, name):
                raise EditRefused("it is changed for others to see")
    return name
