"""A value in a call of something from ``torch``: ``[a, b]`` becomes ``nn.ModuleList([a, b])``."""

from __future__ import annotations

import ast

from ...source.edit import Edit
from .edit_refused import EditRefused
from .name_resolution import qualified, torch_name
from .source_editor import SourceEditor

_EMPTY = ("[]", "list()", "()", "tuple()", "{}", "dict()")


def wrap(editor: SourceEditor, target: ast.AST, wrapper: str) -> list[Edit]:
    """``torch.<wrapper>(target)``; what is empty is made by the wrapper itself."""
    if not isinstance(target, ast.expr) or not isinstance(getattr(target, "ctx", ast.Load()), ast.Load):
        raise EditRefused("not a value")
    place = editor.place(target)
    name = torch_name(editor, place, wrapper)
    if name is None:
        raise EditRefused("torch.nn has no name here")
    if isinstance(target, ast.Call) and qualified(editor, place, target.func) == f"torch.{wrapper}":
        raise EditRefused("done already")
    text = editor.text_of(target)
    if text in _EMPTY:
        return [editor.edit(editor.begin(target), editor.end(target), f"{name}()")]
    if isinstance(target, ast.Tuple):
        call = ast.parse(f"f({text})", mode="eval").body
        if isinstance(call, ast.Call) and len(call.args) != 1:
            raise EditRefused("a tuple without parentheses")
    return [editor.insert(editor.begin(target), f"{name}("), editor.insert(editor.end(target), ")")]
