"""Return None where a Function's backward has a gradient for something that is no tensor.

Target: the element of the returned tuple.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.source_editor import SourceEditor


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    path = editor.path(target)
    if not isinstance(path[-2], ast.Tuple) or not isinstance(path[-3], ast.Return):
        raise EditRefused("not an element of what is returned")
    begin, end = editor.begin(target), editor.end(target)
    before, after = editor.text[:begin].rstrip(" \t"), editor.text[end:].lstrip(" \t")
    if before.endswith("(") and after.startswith(")"):
        raise EditRefused("in parentheses of its own")
    return [editor.edit(begin, end, "None")]
