"""Unpack all that forward has saved: ``x, w = ctx.saved_tensors`` becomes ``x, w, out = ctx.saved_tensors``.

Targets: the names that backward unpacks, a tuple or a list, and the call that saves. Refused unless forward saves
variables, of which these are the first.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.backward_calls_text import as_call
from ...text.edit_refused import EditRefused
from ...text.source_editor import SourceEditor


def edits(editor: SourceEditor, unpacked: ast.AST, call: ast.AST) -> list[Edit]:
    call = as_call(call)
    if not isinstance(call, ast.Call) or not isinstance(unpacked, (ast.Tuple, ast.List)) or not unpacked.elts:
        raise EditRefused("not a call and what is unpacked")
    saved, taken = _names(call.args), _names(unpacked.elts)
    if saved[: len(taken)] != taken or len(saved) == len(taken):
        raise EditRefused("other names")
    more = ", ".join(saved[len(taken) :])
    return [editor.insert(editor.end(unpacked.elts[-1]), f", {more}")]


def _names(nodes: list[ast.expr]) -> list[str]:
    """The names; refused where one is more than that."""
    found = [node.id for node in nodes if isinstance(node, ast.Name)]
    if len(found) < len(nodes):
        raise EditRefused("more than names")
    return found
