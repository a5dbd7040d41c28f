"""Make a computed tensor a leaf of its own: ``x = w * 2`` becomes ``x = (w * 2).detach().requires_grad_()``.

Targets: one or more expressions. A tuple or list display stands for its elements.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.source_editor import SourceEditor
from ...text.tensor_values import append_to_values


def edits(editor: SourceEditor, *targets: ast.AST) -> list[Edit]:
    return append_to_values(editor, targets, ".detach().requires_grad_()", unless=("requires_grad_",))
