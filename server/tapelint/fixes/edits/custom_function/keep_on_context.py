"""Keep what is no tensor as an attribute: ``ctx.save_for_backward(x, alpha)`` becomes ``ctx.alpha = alpha`` and
``ctx.save_for_backward(x)``, and ``x, alpha = ctx.saved_tensors`` becomes ``(x,) = ctx.saved_tensors`` and
``alpha = ctx.alpha``.

Target: the argument, a name, the last one of its call. Refused unless backward unpacks as many names in one statement.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.rows import put_after, put_before
from ...text.source_editor import SourceEditor


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    path = editor.path(target)
    call, owner = path[-2], next((n for n in reversed(path) if isinstance(n, ast.ClassDef)), None)
    match target, call:
        case (
            ast.Name(id=name),
            ast.Call(func=ast.Attribute(value=ast.Name(id=context)), args=[*_, before, last], keywords=[]),
        ) if last is target:
            pass
        case _:
            raise EditRefused("not the last of several arguments, by name")
    if owner is None:
        raise EditRefused("not in a class")
    attributes = [n for n in ast.walk(owner) if isinstance(n, ast.Attribute)]
    if any(n.attr == name for n in attributes):
        raise EditRefused("an attribute that is there already")
    return [
        put_before(editor, editor.place(target), f"{context}.{name} = {name}"),
        editor.edit(editor.end(before), editor.end(target), ""),
        *_unpacking(editor, owner, attributes, len(call.args), name),
    ]


def _unpacking(
    editor: SourceEditor, owner: ast.ClassDef, attributes: list[ast.Attribute], count: int, name: str
) -> list[Edit]:
    """The statement that unpacks the saved tensors without the last, and one below it that reads the attribute."""
    reads = [n for n in attributes if n.attr == "saved_tensors"]
    statements = [n for n in ast.walk(owner) if isinstance(n, ast.Assign) and n.value in reads]
    match statements:
        case [
            ast.Assign(
                targets=[ast.Tuple(elts=[*_, ast.Name() as before, ast.Name() as last]) as names],
                value=ast.Attribute(value=ast.Name(id=context)),
            ) as statement
        ] if len(names.elts) == count and len(reads) == 1:
            pass
        case _:
            raise EditRefused("the saved tensors are not unpacked in one statement")
    begin, end = editor.begin(names), editor.end(names)
    has_parentheses = editor.text[begin] == "("
    kept = editor.text[editor.begin(names.elts[0]) : editor.end(before)] + ("," if count == 2 else "")
    return [
        editor.edit(begin, end, f"({kept})" if has_parentheses or count == 2 else kept),
        put_after(editor, editor.place(statement), f"{last.id} = {context}.{name}"),
    ]
