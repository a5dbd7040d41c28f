"""Join losses with their graphs: ``torch.tensor([a, b])`` becomes ``torch.stack([a, b])``.

Target: the call that copies the numbers of a list of tensors. The device may be given, it is that of the losses.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.arguments import Arguments
from ...text.edit_refused import EditRefused
from ...text.name_resolution import qualified
from ...text.source_editor import SourceEditor

_FUNCTIONS = frozenset("torch.tensor torch.as_tensor torch.asarray torch.Tensor torch.FloatTensor".split())


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    if not isinstance(target, ast.Call) or not isinstance(target.func, ast.Attribute) or len(target.args) != 1:
        raise EditRefused("not a call with one argument")
    if qualified(editor, editor.place(target), target.func) not in _FUNCTIONS:
        raise EditRefused("not known to make a tensor of a list")
    if [keyword.arg for keyword in target.keywords] not in ([], ["device"]):
        raise EditRefused("arguments that stack does not take")
    end = editor.end(target.func)
    made = [editor.edit(end - len(target.func.attr), end, "stack")]
    return made + Arguments(editor, target).remove("device") if target.keywords else made
