"""Compute a loss later: the statements that make it move to just after another of their suite, as after ``opt.step()``.

Targets: the statement they shall follow, and what they compute, in any order; what does not stand above it in its suite
stays where it is.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.source_editor import SourceEditor
from ...text.statement_moves import move_all


def edits(editor: SourceEditor, anchor: ast.AST, *targets: ast.AST) -> list[Edit]:
    return move_all(editor, targets, anchor)
