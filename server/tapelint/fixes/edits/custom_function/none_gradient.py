"""Return None where a Function's backward has a gradient for something that is no tensor.

Target: the element of the returned tuple.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.source_editor import SourceEditor


def edits(sheet: SourceEditor, target: ast.AST) -> list[Edit]:
    path = sheet.path(target)
    if not isinstance(path[-2], ast.Tuple) or not isinstance(path[-3], ast.Return):
        raise EditRefused("not an element of what is returned")
    begin, end = sheet.begin(target), sheet.end(target)
    before, after = sheet.text[:begin].rstrip(" \t"), sheet.text[end:].lstrip(" \t")
    if before.endswith("(") and after.startswith(")"):
        raise EditRefused("in parentheses of its own")
    return [sheet.edit(begin, end, "None")]
