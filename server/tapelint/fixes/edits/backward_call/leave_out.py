"""Leave out a backward that has nothing to train: ``slope.sum().backward()`` where the slope is constant.

Target: the call, a statement of its own and not the only one of its suite. Comments above it stay.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.backward_calls_text import as_call
from ...text.edit_refused import EditRefused
from ...text.rows import take_out
from ...text.source_editor import SourceEditor


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    place = editor.place(target)
    if not isinstance(place.statement, ast.Expr) or place.statement.value is not as_call(target):
        raise EditRefused("not a statement of its own")
    return [take_out(editor, place, with_comments=False)]
