"""Clear the gradients after something: ``opt.zero_grad()`` right after the step that used them.

Targets: the statement (or a call in it) to insert after, and the optimizer, as the program writes it there.
"""

from __future__ import annotations

import ast

from ...source.edit import Edit
from ..rows import put_after
from ..sheet import Sheet
from ..states import steady


def edits(sheet: Sheet, anchor: ast.AST, optimizer: ast.AST) -> list[Edit]:
    return [put_after(sheet, sheet.whole(anchor), f"{steady(optimizer)}.zero_grad()")]
