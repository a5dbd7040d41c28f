"""Compute a new tensor for each of the augmented assignments to the same name in a suite.

    x += attend(x)            x = x + attend(x)
    x += think(norm(x))  ->   x = x + think(norm(x))

Target: one of them. Where there is only one, this is ``out_of_place``.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.name_resolution import dotted
from ...text.source_editor import SourceEditor
from . import out_of_place


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    place = editor.place(target)
    written = place.statement
    name = dotted(written.target) if isinstance(written, ast.AugAssign) else None
    if name is None:
        raise EditRefused("nothing with a name is added to")
    alike = [s for s in place.suite if isinstance(s, ast.AugAssign) and dotted(s.target) == name]
    return [edit for statement in alike for edit in out_of_place.edits(editor, statement)]
