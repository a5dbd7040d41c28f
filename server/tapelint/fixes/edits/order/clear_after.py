"""Empty containers when they were used: ``losses.clear()`` right after ``sum(losses).backward()``.

Targets: the statement (or a call in it) to insert after, and the containers as the program writes them, there or
elsewhere.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.name_resolution import is_local
from ...text.rows import put_after
from ...text.source_editor import SCOPES, Place, SourceEditor
from ...text.states import steady


def edits(editor: SourceEditor, anchor: ast.AST, *containers: ast.AST) -> list[Edit]:
    place = editor.whole(anchor)
    names = [_name(editor, place, container) for container in containers]
    return [put_after(editor, place, *(f"{name}.clear()" for name in names))]


def _name(editor: SourceEditor, place: Place, container: ast.AST) -> str:
    """How the container is written; refused where that means something else at ``place``."""
    other = editor.place(container)
    name = steady(container)
    root = name.partition(".")[0]
    here, there = (next(n for n in reversed(p.parents) if isinstance(n, SCOPES)) for p in (place, other))
    if here is not there and any(
        not isinstance(editor.scopes(p)[0], ast.Module) and is_local(editor, p, root) for p in (place, other)
    ):
        classes = [next((n for n in reversed(p.parents) if isinstance(n, ast.ClassDef)), None) for p in (place, other)]
        if root != "self" or classes[0] is None or classes[0] is not classes[1]:
            raise EditRefused("the name means something else there")
    return name
