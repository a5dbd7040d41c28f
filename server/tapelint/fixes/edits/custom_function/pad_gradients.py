"""Return None for the arguments a Function's backward has no gradient for: ``return g`` becomes ``return g, None``.

Targets: the ``return``, and the definition of ``forward``, whose parameters are counted.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.source_editor import SourceEditor


def edits(editor: SourceEditor, target: ast.AST, forward: ast.AST) -> list[Edit]:
    if not isinstance(target, ast.Return) or target.value is None or not isinstance(forward, ast.FunctionDef):
        raise EditRefused("not a return of gradients")
    if forward.args.vararg is not None or forward.args.kwonlyargs:
        raise EditRefused("the number of arguments is not known")
    owner = editor.path(forward)[-2]
    has_setup = any(isinstance(n, ast.FunctionDef) and n.name == "setup_context" for n in getattr(owner, "body", ()))
    expected = len(forward.args.posonlyargs) + len(forward.args.args) - (not has_setup)
    value = target.value
    got = len(value.elts) if isinstance(value, ast.Tuple) else 1
    if got >= expected:
        raise EditRefused("as many as there are arguments")
    missing = ", ".join(["None"] * (expected - got))
    if not isinstance(value, ast.Tuple):
        if isinstance(value, (ast.IfExp, ast.Lambda, ast.NamedExpr, ast.Yield, ast.List)):
            raise EditRefused("an expression that needs parentheses, or is no gradient")
        return [editor.insert(editor.end(value), f", {missing}")]
    return [editor.insert(editor.end(value.elts[-1]), f", {missing}")]
