"""Take zeros for the gradients of what was not used: ``materialize_grads=True``.

Target: the call of ``torch.autograd.grad``.
"""

from __future__ import annotations

import ast

from ...source.edit import Edit
from ..arguments import Arguments
from ..gradcalls import as_call
from ..sheet import Sheet


def edits(sheet: Sheet, target: ast.AST) -> list[Edit]:
    return Arguments(sheet, as_call(target)).put("materialize_grads", "True", 7)
