"""The same where the statement also runs without gradients: ``y.retain_grad()`` only if y requires grad.

Targets: as of ``retain_grad``.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.rows import indent_of, indent_unit, owns_rows, put_after
from ...text.source_editor import SourceEditor
from ...text.states import steady


def edits(editor: SourceEditor, statement: ast.AST, tensor: ast.AST) -> list[Edit]:
    place, name = editor.whole(statement), steady(tensor)
    if not owns_rows(editor, place.statement):
        raise EditRefused("no place for an if")
    inner = indent_of(editor, place) + indent_unit(editor, place)
    return [put_after(editor, place, f"if {name}.requires_grad:{editor.eol}{inner}{name}.retain_grad()")]
