"""Forget the past of states as soon as they are kept: ``h = h.detach()`` for each, right after they were assigned.

Targets: as of ``detach_states``, but the statement is the one to insert after; it must not be the last of its suite.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.source_editor import SourceEditor
from . import detach_states


def edits(editor: SourceEditor, statement: ast.AST, *states: ast.AST) -> list[Edit]:
    place = editor.place(statement)
    if place.statement is not statement or place.index + 1 >= len(place.suite):
        raise EditRefused("nothing follows it")
    return detach_states.edits(editor, place.suite[place.index + 1], *states)
