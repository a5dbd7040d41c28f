"""Cut a value off its graph where it is used: ``total += loss`` becomes ``total += loss.detach()``.

Targets: one or more expressions. A tuple or list display stands for its elements, since a tuple has no ``detach``.
Expressions that are detached already are left alone.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.source_editor import SourceEditor
from ...text.tensor_values import append_to_values


def edits(editor: SourceEditor, *targets: ast.AST) -> list[Edit]:
    return append_to_values(editor, targets, ".detach()", unless=("detach", "detach_"))
