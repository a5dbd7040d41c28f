"""Forget the past of a state as soon as it is kept: ``self.h = self.h.detach()`` right after it was assigned.

Targets: as of ``detach_state``, but the statement is the one to insert after; it must not be the last of its suite.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.source_editor import SourceEditor
from ...text.states import assign_after


def edits(editor: SourceEditor, statement: ast.AST, state: ast.AST) -> list[Edit]:
    return assign_after(editor, statement, state, "{state}.detach()")
