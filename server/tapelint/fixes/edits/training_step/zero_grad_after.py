"""Clear the gradients after something: ``opt.zero_grad()`` right after the step that used them.

Targets: the statement (or a call in it) to insert after, and the optimizer, as the program writes it there.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.rows import put_after
from ...text.source_editor import SourceEditor
from ...text.states import steady


def edits(editor: SourceEditor, anchor: ast.AST, optimizer: ast.AST) -> list[Edit]:
    return [put_after(editor, editor.whole(anchor), f"{steady(optimizer)}.zero_grad()")]
