"""Make a tensor that autograd does not track: ``torch.zeros(1, requires_grad=True)`` becomes ``torch.zeros(1)``.

Target: the call that makes the tensor.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.arguments import Arguments
from ...text.backward_calls_text import as_call
from ...text.source_editor import SourceEditor


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    return Arguments(editor, as_call(target)).remove("requires_grad")
