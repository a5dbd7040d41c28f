"""Do something later: move a statement to just after another of the same suite, as ``opt.step()`` after every backward.

Targets: the statement and the one it shall follow. Comments above the statement and beside it go with it.
"""

from __future__ import annotations

import ast

from ...source.edit import Edit
from ..moves import move
from ..sheet import Sheet


def edits(sheet: Sheet, statement: ast.AST, anchor: ast.AST) -> list[Edit]:
    return move(sheet, statement, anchor, after=True)
