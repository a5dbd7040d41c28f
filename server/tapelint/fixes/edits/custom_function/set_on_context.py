"""Keep an argument for backward: ``ctx.alpha = alpha`` at the beginning of ``forward``, which takes an ``alpha``.

Targets: the method that is to set it, ``forward`` or ``setup_context``, and the attribute as it is read elsewhere.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.rows import must_stay_first, put_before
from ...text.source_editor import SourceEditor


def edits(editor: SourceEditor, method: ast.AST, attribute: ast.AST) -> list[Edit]:
    if not isinstance(method, ast.FunctionDef) or not isinstance(attribute, ast.Attribute):
        raise EditRefused("not a method and an attribute")
    name, arguments = attribute.attr, _arguments(method)
    if method.name == "setup_context":
        given = _arguments(_forward(editor, method))
        if len(arguments) < 2 or name not in given:
            raise EditRefused("forward has no such argument")
        value = f"{arguments[1]}[{given.index(name)}]"
    elif name in arguments[1:]:
        value = name
    else:
        raise EditRefused("forward has no such argument")
    first = next((s for s in method.body if not must_stay_first(editor.place(s))), None)
    if first is None:
        raise EditRefused("a method without statements")
    return [put_before(editor, editor.place(first), f"{arguments[0]}.{name} = {value}")]


def _forward(editor: SourceEditor, method: ast.FunctionDef) -> ast.FunctionDef:
    """The forward beside a ``setup_context``."""
    suite = editor.place(method).suite
    found = [s for s in suite if isinstance(s, ast.FunctionDef) and s.name == "forward"]
    if not found:
        raise EditRefused("no forward in the class")
    return found[-1]


def _arguments(method: ast.FunctionDef) -> list[str]:
    """The arguments by position."""
    return [argument.arg for argument in (*method.args.posonlyargs, *method.args.args)]
