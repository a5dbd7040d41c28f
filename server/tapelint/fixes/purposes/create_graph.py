"""Give a gradient a graph of its own: ``torch.autograd.grad(y, x)`` becomes
``torch.autograd.grad(y, x, create_graph=True)``.

Target: the call. A ``create_graph`` that is there already becomes ``True``; ``retain_graph`` is then true by default.
"""

from __future__ import annotations

import ast

from ...source.edit import Edit
from ..arguments import Arguments
from ..gradcalls import as_call
from ..names import qualified
from ..refused import Refused
from ..sheet import Sheet


def edits(sheet: Sheet, target: ast.AST) -> list[Edit]:
    call = as_call(target)
    if not isinstance(call, ast.Call) or qualified(sheet, sheet.place(call), call.func) != "torch.autograd.grad":
        raise Refused("not torch.autograd.grad")
    return Arguments(sheet, call).put("create_graph", "True", 4)
