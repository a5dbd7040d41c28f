"""Give a value memory of its own: ``kept = x`` becomes ``kept = x.clone()``.

Targets: one or more expressions. A tuple or list display stands for its elements, and one that something is unpacked
into for that. A clone is left alone.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.source_editor import SourceEditor
from ...text.tensor_values import append_to_values


def edits(editor: SourceEditor, *targets: ast.AST) -> list[Edit]:
    values = [_unpacked(editor, target) for target in targets]
    return append_to_values(editor, values, ".clone()", unless=("clone",))


def _unpacked(editor: SourceEditor, target: ast.AST) -> ast.AST:
    """What is unpacked into the target, where it is one of an assignment."""
    if isinstance(getattr(target, "ctx", None), ast.Store):
        parent = editor.path(target)[-2]
        return parent.value if isinstance(parent, ast.Assign) else target
    return target
