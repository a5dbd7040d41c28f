"""Give a value memory of its own: ``kept = x`` becomes ``kept = x.clone()``.

Targets: one or more expressions. A tuple or list display stands for its elements. A clone is left
alone.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.source_editor import SourceEditor
from ...text.tensor_values import append_to_values


def edits(editor: SourceEditor, *targets: ast.AST) -> list[Edit]:
    return append_to_values(editor, targets, ".clone()", unless=("clone",))
