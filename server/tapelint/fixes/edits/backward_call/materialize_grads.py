"""Take zeros for the gradients of what was not used: ``materialize_grads=True``.

Target: the call of ``torch.autograd.grad``.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.arguments import Arguments
from ...text.backward_calls_text import as_call
from ...text.source_editor import SourceEditor


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    return Arguments(editor, as_call(target)).put("materialize_grads", "True", 7)
