"""Clear the gradients before something: ``opt.zero_grad()`` on a row of its own.

Targets: the statement (or a call in it) to insert before, and the optimizer, as the program writes it elsewhere. It
must mean the same at both places, so that calls are refused.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.rows import must_stay_first, put_before
from ...text.source_editor import SourceEditor
from ...text.states import steady


def edits(editor: SourceEditor, anchor: ast.AST, optimizer: ast.AST) -> list[Edit]:
    place = editor.whole(anchor)
    if must_stay_first(place):
        raise EditRefused("nothing may stand before it")
    return [put_before(editor, place, f"{steady(optimizer)}.zero_grad()")]
