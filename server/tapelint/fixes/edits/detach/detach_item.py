"""Keep what ``detach()`` returns in a container: ``self.kept[key].detach_()`` becomes
``self.kept[key] = self.kept[key].detach()``.

Target: the call, a statement of its own. The rule knows that it is a container whose items are assigned, and no tensor.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.backward_calls_text import as_call
from ...text.edit_refused import EditRefused
from ...text.source_editor import SourceEditor
from ...text.states import steady


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    target = as_call(target)
    match target:
        case ast.Call(func=ast.Attribute(value=ast.Subscript() as item, attr="detach_") as function):
            name = steady(item)
        case _:
            raise EditRefused("not an item that is detached")
    statement = editor.place(target).statement
    if not isinstance(statement, ast.Expr) or statement.value is not target:
        raise EditRefused("not a statement of its own")
    end = editor.end(function)
    return [editor.insert(editor.begin(target), f"{name} = "), editor.edit(end - 1, end, "")]
