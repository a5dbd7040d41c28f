"""Checkpoint without reentrant autograd: ``checkpoint(f, x)`` becomes ``checkpoint(f, x, use_reentrant=False)``.

Target: the call of ``checkpoint`` or ``checkpoint_sequential``.
"""

from __future__ import annotations

import ast

from ...source.edit import Edit
from ..arguments import Arguments
from ..gradcalls import as_call
from ..sheet import Sheet


def edits(sheet: Sheet, target: ast.AST) -> list[Edit]:
    return Arguments(sheet, as_call(target)).put("use_reentrant", "False")
