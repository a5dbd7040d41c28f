"""Compute something in every iteration: move a statement from before a loop to the beginning of its body.

Targets: the statement and the loop. The statement is a sibling of the loop, or of something that holds the loop; it is
refused where a name makes the new order compute something else. Comments above the statement go with it.
"""

from __future__ import annotations

import ast

from ....source import Loop
from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.name_resolution import leaves, may_swap
from ...text.rows import after_header, block, indent_of, is_inline, owns_rows, take_out, top_row
from ...text.source_editor import Place, SourceEditor

_LEAVING = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal)


def edits(editor: SourceEditor, statement: ast.AST, loop: ast.AST) -> list[Edit]:
    moved = editor.whole(statement)
    if not isinstance(loop, Loop):
        raise EditRefused("not a loop")
    _refuse_new_meaning(editor, moved, loop)
    body = Place(loop.body[0], loop.body, 0, loop, ())
    indent = indent_of(editor, body)
    text = block(editor, moved, indent)
    if is_inline(editor, body):
        inserted = editor.edit(
            after_header(editor, body), editor.begin(body.statement), editor.eol + text + editor.eol + indent
        )
    else:
        inserted = editor.insert(editor.row_start(top_row(editor, body)), text + editor.eol)
    return [take_out(editor, moved, with_comments=owns_rows(editor, moved.statement)), inserted]


def _refuse_new_meaning(editor: SourceEditor, moved: Place, loop: ast.For | ast.AsyncFor | ast.While) -> None:
    path = editor.path(loop)
    holder = next((i for i, s in enumerate(moved.suite) if any(s is node for node in path)), -1)
    if holder <= moved.index:
        raise EditRefused("not before the loop")
    if leaves([moved.statement], _LEAVING):
        raise EditRefused("it would leave the loop")
    crossed = list(moved.suite[moved.index + 1 : holder])
    headers: list[ast.AST] = []
    for node in path[path.index(moved.suite[holder]) :]:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            raise EditRefused("a loop of another function")
        if node is not loop and isinstance(node, Loop):
            crossed += _before(node.body, path)
        headers += _header(node)
    if not may_swap([moved.statement], [*crossed, *headers]):
        raise EditRefused("what is between depends on it")


def _header(node: ast.AST) -> list[ast.AST]:
    """What a statement with a suite evaluates or binds before that: a loop's iterable and target, the items of with."""
    parts = [getattr(node, field) for field in ("iter", "test", "target") if hasattr(node, field)]
    return parts + getattr(node, "items", [])


def _before(suite: list[ast.stmt], path: tuple[ast.AST, ...]) -> list[ast.stmt]:
    """The statements of a suite before the one that is on the path."""
    found: list[ast.stmt] = []
    for statement in suite:
        if any(statement is node for node in path):
            break
        found.append(statement)
    return found
