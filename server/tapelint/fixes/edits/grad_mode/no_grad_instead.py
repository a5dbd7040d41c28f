"""Leave gradients off, but make ordinary tensors: ``torch.inference_mode()`` becomes ``torch.no_grad()``.

Targets: what was computed in inference mode, then the calls that led there, innermost first. The mode is looked for in
the ``with`` statements and the decorators around them.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.context_managers import managers_around
from ...text.edit_refused import EditRefused
from ...text.source_editor import SourceEditor

_MODES = ("torch.inference_mode", "torch.autograd.inference_mode")


def edits(editor: SourceEditor, *targets: ast.AST) -> list[Edit]:
    for _, expression in managers_around(editor, targets, _MODES):
        function = expression.func if isinstance(expression, ast.Call) else expression
        if not isinstance(function, ast.Attribute):
            raise EditRefused("no_grad may not be imported")
        end = editor.end(function)
        return [editor.edit(end - len("inference_mode"), end, "no_grad")]
    raise EditRefused("the mode is not entered around it")
