"""Ask a non-leaf for its gradient: ``y.requires_grad = True`` becomes ``y.retain_grad()``.

Target: the statement, or what it sets. The tensor must be a name or an attribute of names.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.requires_grad_flags import flagged
from ...text.source_editor import SourceEditor


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    statement, tensor = flagged(editor, target)
    return [editor.edit(editor.begin(statement), editor.end(statement), f"{tensor}.retain_grad()")]
