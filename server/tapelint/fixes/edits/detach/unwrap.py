"""Use a tensor itself and not a new one made from it: ``torch.tensor(loss.item())`` becomes ``loss``.

Target: the call of ``torch.tensor`` and its like, or that of ``item`` in it.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.name_resolution import qualified
from ...text.source_editor import SourceEditor

_FUNCTIONS = ("torch.tensor", "torch.as_tensor", "torch.Tensor", "torch.autograd.Variable")


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    around = editor.path(target)[-2]
    if isinstance(target, ast.Call) and isinstance(target.func, ast.Attribute) and target.func.attr == "item":
        target = around
    if not isinstance(target, ast.Call) or not target.args:
        raise EditRefused("not a call with an argument")
    if qualified(editor, editor.place(target), target.func) not in _FUNCTIONS:
        raise EditRefused("not known to make a tensor")
    value = target.args[0]
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "item":
        value = value.func.value
    if not isinstance(value, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
        raise EditRefused("not a tensor by itself")
    return [editor.edit(editor.begin(target), editor.end(target), editor.text_of(value))]
