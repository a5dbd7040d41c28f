"""Make the Parameter last: ``nn.Parameter(t).to(device)`` becomes ``nn.Parameter(t.to(device))``.

Target: the value that is assigned, in which one call of ``nn.Parameter`` stands.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.name_resolution import qualified
from ...text.source_editor import SourceEditor

_NAMES = ("torch.nn.Parameter", "torch.nn.parameter.Parameter")


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    place = editor.place(target)
    calls = [node for node in ast.walk(target) if isinstance(node, ast.Call)]
    made = [call for call in calls if qualified(editor, place, call.func) in _NAMES]
    if len(made) != 1 or made[0] is target or not made[0].args or isinstance(made[0].args[0], ast.Starred):
        raise EditRefused("not one Parameter inside")
    data, *others = made[0].args
    options = [*map(editor.text_of, others), *(f"{each.arg}={editor.text_of(each.value)}" for each in made[0].keywords)]
    inner = editor.text_of(data)
    if not isinstance(data, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
        inner = f"({inner})"
    last = "".join(f", {option}" for option in options)
    return [
        editor.insert(editor.begin(target), f"{editor.text_of(made[0].func)}("),
        editor.edit(editor.begin(made[0]), editor.end(made[0]), inner),
        editor.insert(editor.end(target), f"{last})"),
    ]
