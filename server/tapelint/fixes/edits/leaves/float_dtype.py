"""Make a tensor of floating point numbers: ``torch.arange(3)`` becomes ``torch.arange(3, dtype=torch.float32)``.

Target: the call that makes the tensor. Calls of anything that is not known to take a dtype are refused.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.arguments import Arguments
from ...text.edit_refused import EditRefused
from ...text.name_resolution import qualified, torch_name
from ...text.source_editor import SourceEditor

_FUNCTIONS = frozenset(
    "arange asarray as_tensor empty empty_like full full_like ones ones_like randint randint_like randperm tensor zeros"
    " zeros_like".split()
)


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    if not isinstance(target, ast.Call):
        raise EditRefused("not a call")
    place = editor.place(target)
    module, _, function = (qualified(editor, place, target.func) or "").rpartition(".")
    dtype = torch_name(editor, place, "float32")
    if module != "torch" or function not in _FUNCTIONS or dtype is None:
        raise EditRefused("not known to make a tensor")
    return Arguments(editor, target).put("dtype", dtype)
