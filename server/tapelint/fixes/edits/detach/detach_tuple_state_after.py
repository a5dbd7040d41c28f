"""Forget the past of a tuple of states as soon as it is kept: ``state = tuple(s.detach() for s in state)``.

Targets: as of ``detach_state_after``.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.source_editor import SourceEditor
from ...text.states import assign_after


def edits(editor: SourceEditor, statement: ast.AST, state: ast.AST) -> list[Edit]:
    return assign_after(editor, statement, state, "tuple({part}.detach() for {part} in {state})")
