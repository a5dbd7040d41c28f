"""Forget the past of a state that is a tuple, as an LSTM's: ``state = tuple(s.detach() for s in state)``.

Targets: as of ``detach_state``, the statement to insert before and the state.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.source_editor import SourceEditor
from ...text.states import assign_before


def edits(editor: SourceEditor, statement: ast.AST, state: ast.AST) -> list[Edit]:
    return assign_before(editor, statement, state, "tuple({part}.detach() for {part} in {state})")
