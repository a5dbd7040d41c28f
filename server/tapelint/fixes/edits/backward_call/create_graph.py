"""Give a gradient a graph of its own: ``torch.autograd.grad(y, x)`` becomes
``torch.autograd.grad(y, x, create_graph=True)``.

Target: the call. A ``create_graph`` that is there already becomes ``True``; ``retain_graph`` is then true by default.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.arguments import Arguments
from ...text.backward_calls_text import as_call
from ...text.edit_refused import EditRefused
from ...text.name_resolution import qualified
from ...text.source_editor import SourceEditor


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    call = as_call(target)
    if not isinstance(call, ast.Call) or qualified(editor, editor.place(call), call.func) != "torch.autograd.grad":
        raise EditRefused("not torch.autograd.grad")
    return Arguments(editor, call).put("create_graph", "True", 4)
