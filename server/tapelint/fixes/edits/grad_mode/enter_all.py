"""Write commas between context managers that are joined by ``and`` or ``or``, so that all are entered.

Target: the operands, which are the only expression of an item of ``with``.
"""

from __future__ import annotations

import ast
from itertools import pairwise

from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.source_editor import SourceEditor


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    path = editor.path(target)
    if not isinstance(target, ast.BoolOp) or not isinstance(path[-2], ast.withitem):
        raise EditRefused("not what a with statement enters")
    if editor.text[: editor.begin(target)].rstrip().endswith("("):
        raise EditRefused("in parentheses, where a comma may make a tuple")
    made: list[Edit] = []
    for before, after in pairwise(target.values):
        begin, end = editor.end(before), editor.begin(after)
        if editor.text[begin:end].strip() not in ("and", "or"):
            raise EditRefused("more than a word between them")
        made.append(editor.edit(begin, end, ", "))
    return made
