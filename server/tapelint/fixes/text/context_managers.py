"""Context managers around some code: in ``with`` statements, and as decorators of the functions it is in."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from .name_resolution import qualified
from .source_editor import SourceEditor


def managers_around(
    editor: SourceEditor, targets: Sequence[ast.AST], names: Sequence[str]
) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Those of ``names``, called without arguments or not called, around each target, innermost first: each with the
    statement it belongs to.
    """
    for target in targets:
        for node in reversed(editor.path(target)):
            for expression in _managers(node):
                function = expression.func if isinstance(expression, ast.Call) else expression
                if isinstance(expression, ast.Call) and (expression.args or expression.keywords):
                    continue
                if qualified(editor, editor.place(node), function) in names:
                    yield node, expression


def _managers(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, (ast.With, ast.AsyncWith)):
        yield from (item.context_expr for item in node.items)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from node.decorator_list
