"""Save what backward unpacks: ``ctx.save_for_backward(x)`` becomes ``ctx.save_for_backward(x, w)`` where backward has
``x, w = ctx.saved_tensors``.

Targets: the call that saves and the names that backward unpacks, a tuple or a list. Refused unless each of them is a
variable of the method that saves.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.backward_calls_text import as_call
from ...text.edit_refused import EditRefused
from ...text.name_resolution import binds
from ...text.source_editor import SourceEditor


def edits(editor: SourceEditor, call: ast.AST, unpacked: ast.AST) -> list[Edit]:
    call = as_call(call)
    if not isinstance(call, ast.Call) or not isinstance(unpacked, (ast.Tuple, ast.List)) or not call.args:
        raise EditRefused("not a call with arguments and what is unpacked")
    names = [part.id for part in unpacked.elts if isinstance(part, ast.Name)]
    if len(names) < len(unpacked.elts) or call.keywords:
        raise EditRefused("more than names")
    if not set(names) <= _variables(editor, call):
        raise EditRefused("not variables of the method")
    begin, end = editor.begin(call.args[0]), editor.end(call.args[-1])
    if "#" in editor.text[begin:end]:
        raise EditRefused("a comment between the arguments")
    return [editor.edit(begin, end, ", ".join(names))]


def _variables(editor: SourceEditor, call: ast.Call) -> set[str]:
    """What the function that holds the call has bound above it."""
    function = next((n for n in reversed(editor.path(call)) if isinstance(n, ast.FunctionDef)), None)
    if function is None:
        raise EditRefused("not in a method")
    above = (node for node in ast.walk(function) if getattr(node, "lineno", call.lineno) < call.lineno)
    arguments = (argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg))
    return {*arguments, *(name for node in above for name in binds(node))}
