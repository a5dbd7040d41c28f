"""Reduce a tensor to one number by its sum: ``grad(u, x)`` becomes ``grad(u.sum(), x)``.

Targets: one or more expressions. A tuple or list display stands for its elements.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.source_editor import SourceEditor
from ...text.tensor_values import append_to_values


def edits(editor: SourceEditor, *targets: ast.AST) -> list[Edit]:
    return append_to_values(editor, targets, ".sum()", unless=("sum",))
