"""Record the graph after all: ``with torch.no_grad():`` becomes ``with torch.enable_grad():``; a decorator
``@torch.no_grad()`` goes.

Targets: what was computed without gradients, then the calls that led there, innermost first. The mode is looked for in
the ``with`` statements and the decorators around them.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.context_managers import managers_around
from ...text.edit_refused import EditRefused
from ...text.source_editor import SourceEditor

MODES = ("torch.no_grad", "torch.autograd.no_grad", "torch.inference_mode", "torch.autograd.inference_mode")


def edits(editor: SourceEditor, *targets: ast.AST) -> list[Edit]:
    for node, expression in managers_around(editor, targets, MODES):
        if not isinstance(node, (ast.With, ast.AsyncWith)):
            return [_without_decorator(editor, expression)]
        function = expression.func if isinstance(expression, ast.Call) else expression
        if not isinstance(function, ast.Attribute):
            raise EditRefused("enable_grad may not be imported")
        end = editor.end(function)
        return [editor.edit(end - len(function.attr), end, "enable_grad")]
    raise EditRefused("the mode is not entered around it")


def _without_decorator(editor: SourceEditor, decorator: ast.expr) -> Edit:
    row, last = editor.bare_row(decorator), editor.last_row(decorator)
    before, (alone, comment) = editor.rows[row - 1].strip(), editor.tail(decorator)
    if row != last or not before.startswith("@") or not alone or comment is not None:
        raise EditRefused("a decorator that does not have a row of its own")
    return editor.edit(editor.row_start(row), editor.row_start(last + 1), "")
