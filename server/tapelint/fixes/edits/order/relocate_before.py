"""Do something elsewhere: a call goes just before a statement of another suite, as ``opt.zero_grad()`` out of a loop.

Targets: the call, a statement of its own, and the statement that it shall precede.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.source_editor import SourceEditor
from ...text.statement_moves import relocate


def edits(editor: SourceEditor, statement: ast.AST, anchor: ast.AST) -> list[Edit]:
    return relocate(editor, statement, anchor, after=False)
