"""Let backward free the graph: take ``retain_graph`` out of a call.

Target: the call, of ``Tensor.backward``, ``torch.autograd.backward`` or ``torch.autograd.grad``.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.arguments import Arguments
from ...text.backward_calls_text import as_call, retain_graph_position
from ...text.source_editor import SourceEditor


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    call = as_call(target)
    return Arguments(editor, call).remove("retain_graph", retain_graph_position(editor, call))
