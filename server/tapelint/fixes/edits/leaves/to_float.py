"""Convert a tensor to floating point where it is made: ``x = a + b`` becomes ``x = (a + b).float()``.

Targets: one or more expressions. A tuple or list display stands for its elements.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.source_editor import SourceEditor
from ...text.tensor_values import append_to_values


def edits(editor: SourceEditor, *targets: ast.AST) -> list[Edit]:
    return append_to_values(editor, targets, ".float()", unless=("float", "double"))
