"""Save tensors one by one: ``ctx.save_for_backward([x, w])`` becomes ``ctx.save_for_backward(x, w)``.

Target: the list or tuple among the arguments. One that is kept in a variable is unpacked: ``*kept``.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.source_editor import SourceEditor


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    if isinstance(target, (ast.Name, ast.Attribute)):
        return [editor.insert(editor.begin(target), "*")]
    if not isinstance(target, (ast.List, ast.Tuple)) or not target.elts:
        raise EditRefused("not a list of tensors")
    first, last = target.elts[0], target.elts[-1]
    before, after = (
        editor.text[editor.begin(target) : editor.begin(first)],
        editor.text[editor.end(last) : editor.end(target)],
    )
    if before not in ("[", "(") or after not in ("]", ")", ",]", ",)"):
        raise EditRefused("more than brackets around them")
    return [
        editor.edit(editor.begin(target), editor.begin(first), ""),
        editor.edit(editor.end(last), editor.end(target), ""),
    ]
