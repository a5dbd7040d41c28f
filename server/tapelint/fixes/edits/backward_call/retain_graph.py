"""Keep the graph for another backward: ``loss.backward()`` becomes ``loss.backward(retain_graph=True)``.

Target: the call, of ``Tensor.backward``, ``torch.autograd.backward`` or ``torch.autograd.grad``. A ``retain_graph``
that is there already, by name or by position, becomes ``True``.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.arguments import Arguments
from ...text.backward_calls_text import as_call, retain_graph_position
from ...text.source_editor import SourceEditor


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    call = as_call(target)
    return Arguments(editor, call).put("retain_graph", "True", retain_graph_position(editor, call))
