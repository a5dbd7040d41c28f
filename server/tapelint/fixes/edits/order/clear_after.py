"""Empty a container when it was used: ``losses.clear()`` right after ``sum(losses).backward()``.

Targets: the statement (or a call in it) to insert after, and the container as the program writes it, there or
elsewhere.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.name_resolution import is_local
from ...text.rows import put_after
from ...text.source_editor import SCOPES, SourceEditor
from ...text.states import steady


def edits(editor: SourceEditor, anchor: ast.AST, container: ast.AST) -> list[Edit]:
    place, other = editor.whole(anchor), editor.place(container)
    name = steady(container)
    root = name.partition(".")[0]
    here, there = (next(n for n in reversed(p.parents) if isinstance(n, SCOPES)) for p in (place, other))
    if here is not there and any(
        not isinstance(editor.scopes(p)[0], ast.Module) and is_local(editor, p, root) for p in (place, other)
    ):
        classes = [next((n for n in reversed(p.parents) if isinstance(n, ast.ClassDef)), None) for p in (place, other)]
        if root != "self" or classes[0] is None or classes[0] is not classes[1]:
            raise EditRefused("the name means something else there")
    return [put_after(editor, place, f"{name}.clear()")]
