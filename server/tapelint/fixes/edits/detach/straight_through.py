"""Keep the gradient of a value whose data is changed: ``g.data.round_()`` becomes ``g = g + (g.round() - g).detach()``.

Target: the statement that calls an in-place method on ``.data`` of a name or attribute.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.inplace_twins import METHODS
from ...text.source_editor import SourceEditor


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    place = editor.place(target)
    call = place.statement.value if isinstance(place.statement, ast.Expr) else None
    match call:
        case ast.Call(
            func=ast.Attribute(
                attr=method, value=ast.Attribute(attr="data", value=ast.Name() | ast.Attribute() as owner)
            )
        ) if method.endswith("_") and method[:-1] in METHODS:
            name = editor.text_of(owner)
            arguments = editor.text[editor.end(call.func) : editor.end(call)]
            new = f"{name} = {name} + ({name}.{method[:-1]}{arguments} - {name}).detach()"
            return [editor.edit(editor.begin(call), editor.end(call), new)]
    raise EditRefused("not an in-place method of .data")
