"""Let autograd keep a tensor: ``ctx.x = x`` becomes ``ctx.save_for_backward(x)``, and ``ctx.x`` in backward
``ctx.saved_tensors[0]``.

Target: the assignment, in ``forward`` or ``setup_context``. Refused where something is saved already: backward would
have to unpack it otherwise.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.source_editor import SourceEditor


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    kept, value = _kept(target)
    path = editor.path(target)
    method, owner = path[-2], path[-3]
    if not isinstance(method, ast.FunctionDef) or not isinstance(owner, ast.ClassDef):
        raise EditRefused("not directly in a method")
    attributes = [n for n in ast.walk(owner) if isinstance(n, ast.Attribute)]
    if any(n.attr in ("save_for_backward", "saved_tensors") for n in attributes):
        raise EditRefused("something is saved already")
    context = editor.text_of(kept.value)
    made = [editor.edit(editor.begin(target), editor.end(target), f"{context}.save_for_backward({value.id})")]
    uses = (node for node in attributes if node.attr == kept.attr and node is not kept)
    return made + [_unpacked(editor, use) for use in uses]


def _kept(target: ast.AST) -> tuple[ast.Attribute, ast.Name]:
    """The attribute of the context and the variable that it is given."""
    if not isinstance(target, ast.Assign) or len(target.targets) != 1:
        raise EditRefused("not an assignment of one attribute")
    left, value = target.targets[0], target.value
    if not (isinstance(left, ast.Attribute) and isinstance(left.value, ast.Name) and isinstance(value, ast.Name)):
        raise EditRefused("not an attribute of the context that is given a name")
    return left, value


def _unpacked(editor: SourceEditor, use: ast.Attribute) -> Edit:
    """A read of the attribute in backward, from the saved tensors instead."""
    inside = next((item for item in reversed(editor.path(use)) if isinstance(item, ast.FunctionDef)), None)
    if inside is None or inside.name not in ("backward", "vjp") or not isinstance(use.ctx, ast.Load):
        raise EditRefused("used elsewhere")
    if not isinstance(use.value, ast.Name) or not inside.args.args or use.value.id != inside.args.args[0].arg:
        raise EditRefused("an attribute of something else")
    return editor.edit(editor.end(use.value), editor.end(use), ".saved_tensors[0]")
