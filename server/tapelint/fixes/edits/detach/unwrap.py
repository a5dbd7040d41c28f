"""Use a tensor itself and not a new one made from it: ``torch.tensor(loss.item())`` becomes ``loss``, ``float(loss)``
too, and ``nn.ParameterList([t])`` becomes ``[t]``.

Target: the call of ``torch.tensor``, ``float`` and their like, or that of ``item`` in it.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.name_resolution import qualified, written
from ...text.source_editor import SourceEditor

_FUNCTIONS = ("torch.tensor", "torch.as_tensor", "torch.Tensor", "torch.autograd.Variable", "torch.nn.Parameter")
_LISTS = ("torch.nn.ParameterList",)


def _is_float(editor: SourceEditor, call: ast.Call) -> bool:
    """Whether Python's own ``float`` is called."""
    is_named = isinstance(call.func, ast.Name) and call.func.id == "float"
    return is_named and not any("float" in written([scope]) for scope in editor.scopes(editor.place(call)))


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    around = editor.path(target)[-2]
    if isinstance(target, ast.Call) and isinstance(target.func, ast.Attribute) and target.func.attr == "item":
        target = around
    if not isinstance(target, ast.Call) or not target.args:
        raise EditRefused("not a call with an argument")
    made = qualified(editor, editor.place(target), target.func)
    if made not in (*_FUNCTIONS, *_LISTS) and not _is_float(editor, target):
        raise EditRefused("not known to make a tensor")
    value = target.args[0]
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "item":
        value = value.func.value
    forms = (ast.List,) if made in _LISTS else (ast.Name, ast.Attribute, ast.Subscript, ast.Call)
    if not isinstance(value, forms):
        raise EditRefused("not a tensor by itself")
    return [editor.edit(editor.begin(target), editor.end(target), editor.text_of(value))]
