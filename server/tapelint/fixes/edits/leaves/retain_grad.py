"""Ask for the gradient of a non-leaf as soon as it is kept: ``y.retain_grad()`` after ``y = x * 2``.

Targets: the statement that assigns the tensor, and the tensor as it is written there: a name or an attribute of names.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.rows import put_after
from ...text.source_editor import SourceEditor
from ...text.states import steady


def edits(editor: SourceEditor, statement: ast.AST, tensor: ast.AST) -> list[Edit]:
    return [put_after(editor, editor.whole(statement), f"{steady(tensor)}.retain_grad()")]
