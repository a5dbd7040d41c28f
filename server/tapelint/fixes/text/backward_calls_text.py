"""Calls of backward, and where each kind of them takes ``retain_graph`` by position."""

from __future__ import annotations

import ast

from .name_resolution import qualified
from .source_editor import SourceEditor

_POSITIONS = {"torch.autograd.backward": 2, "torch.autograd.grad": 3}
_METHOD_POSITION = 1


def retain_graph_position(editor: SourceEditor, call: ast.AST) -> int | None:
    """The index of ``retain_graph`` among the arguments of a call, None for a function that is not torch's."""
    function = getattr(call, "func", None)
    if function is None:
        return None
    name = qualified(editor, editor.place(call), function)
    if name in _POSITIONS:
        return _POSITIONS[name]
    is_method = isinstance(function, ast.Attribute) and function.attr == "backward" and name is None
    return _METHOD_POSITION if is_method else None


def as_call(node: ast.AST) -> ast.AST:
    """The call that a statement consists of."""
    return node.value if isinstance(node, ast.Expr) else node
