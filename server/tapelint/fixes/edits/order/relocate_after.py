"""Do something elsewhere: a call goes just after a statement of another suite, as ``opt.zero_grad()`` behind the step.

Targets: the call, a statement of its own, and the statement that it shall follow.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.source_editor import SourceEditor
from ...text.statement_moves import relocate


def edits(editor: SourceEditor, statement: ast.AST, anchor: ast.AST) -> list[Edit]:
    return relocate(editor, statement, anchor, after=True)
