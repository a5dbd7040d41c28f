"""Write outside autograd: like ``no_grad``, for a statement and those right below it that write in place as well.

    self.weight.uniform_(-k, k)        with torch.no_grad():
    self.bias.zero_()            ->        self.weight.uniform_(-k, k)
                                           self.bias.zero_()

PyTorch names the first write that it refuses; it would refuse the next one too.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.source_editor import SourceEditor
from . import no_grad


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    place = editor.whole(target)
    last = place.index
    while last + 1 < len(place.suite) and _writes(place.suite[last + 1]):
        last += 1
    return no_grad.edits(editor, *place.suite[place.index : last + 1])


def _writes(statement: ast.stmt) -> bool:
    """``w -= 1``, ``w[0] = 1``, ``w.zero_()``: something is overwritten, and no name gets a new meaning; not
    ``w.grad.zero_()``, which no code refuses."""
    if isinstance(statement, ast.AugAssign):
        return True
    if isinstance(statement, ast.Assign):
        return all(isinstance(target, ast.Subscript) for target in statement.targets)
    call = statement.value if isinstance(statement, ast.Expr) else None
    function = call.func if isinstance(call, ast.Call) else None
    if not isinstance(function, ast.Attribute) or function.attr.startswith("_") or not function.attr.endswith("_"):
        return False
    return not (isinstance(function.value, ast.Attribute) and function.value.attr == "grad")
