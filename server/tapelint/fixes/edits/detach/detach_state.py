"""Forget the past of a carried state before it is used again: ``h = h.detach()`` as a statement of its own.

Targets: the statement to insert before, and the state as it is written somewhere: a name, an attribute of names
(``self.h``), or an item of these at a constant or a name (``states[0]``).
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.source_editor import SourceEditor
from ...text.states import assign_before


def edits(editor: SourceEditor, statement: ast.AST, state: ast.AST) -> list[Edit]:
    return assign_before(editor, statement, state, "{state}.detach()")
