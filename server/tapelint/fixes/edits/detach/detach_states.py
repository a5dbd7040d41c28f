"""Forget the past of kept tensors before a statement: ``net.h = net.h.detach()`` as a statement of its own, for each.

Targets: the statement to insert before, and one or more tensors as they are written somewhere, as of ``detach_state``.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.rows import indent_of, must_stay_first, put_before
from ...text.source_editor import SourceEditor
from ...text.states import steady


def edits(editor: SourceEditor, statement: ast.AST, *states: ast.AST) -> list[Edit]:
    place = editor.place(statement)
    if must_stay_first(place):
        raise EditRefused("nothing may stand before it")
    names = [steady(state) for state in states]
    between = editor.eol + indent_of(editor, place) if editor.starts_row(place.statement) else "; "
    return [put_before(editor, place, between.join(f"{name} = {name}.detach()" for name in names))]
