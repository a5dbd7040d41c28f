"""Do something earlier: move a statement to just before another of the same suite.

Targets: the statement and the one it shall precede. Comments above the statement and beside it go with it.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.source_editor import SourceEditor
from ...text.statement_moves import move


def edits(editor: SourceEditor, statement: ast.AST, anchor: ast.AST) -> list[Edit]:
    return move(editor, statement, anchor, after=False)
