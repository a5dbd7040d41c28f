"""Use a value itself and not what was made of it: ``x.detach()``, ``x.item()`` and ``x.data`` become ``x``.

Target: the call of a method without arguments, or the attribute. A statement that only calls an in-place method, as
``x.detach_()``, is removed.
"""

from __future__ import annotations

import ast

import libcst as cst

from ....source.edit import Edit
from ...text.backward_calls_text import as_call
from ...text.concrete_syntax import Concrete
from ...text.edit_refused import EditRefused
from ...text.rows import take_out
from ...text.source_editor import SourceEditor


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    node = as_call(target)
    attribute = node.func if isinstance(node, ast.Call) else node
    if not isinstance(attribute, ast.Attribute) or not isinstance(attribute.ctx, ast.Load):
        raise EditRefused("not a method or an attribute that is read")
    if isinstance(editor.path(node)[-2], ast.Expr):
        if not attribute.attr.endswith("_"):
            raise EditRefused("a statement that only does this")
        return [take_out(editor, editor.place(node), with_comments=False)]
    if isinstance(node, ast.Call) and (node.args or node.keywords):
        raise EditRefused("a method with arguments")
    concrete = Concrete(editor, node)
    value = concrete.find(attribute, cst.Attribute).value
    return [editor.edit(concrete.extent(value)[1], editor.end(node), "")]
