"""Do something later with all that is around it: ``with torch.no_grad(): ...`` moves to just below ``loss.backward()``.

Targets: what is done, and the statement that it shall follow. Moved is what holds the first in the suite of the second:
a loop, a ``with`` or an ``if``. Comments above it go with it.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.source_editor import SourceEditor
from ...text.statement_moves import move


def edits(editor: SourceEditor, target: ast.AST, anchor: ast.AST) -> list[Edit]:
    suite, path = editor.whole(anchor).suite, editor.path(target)
    holder = next((statement for statement in suite if any(statement is node for node in path)), None)
    if not isinstance(holder, (ast.For, ast.While, ast.With, ast.If)):
        raise EditRefused("no block holds it beside the other")
    return move(editor, holder, anchor, after=True)
