"""Statements nested so deeply that a recursive reader of the tree would run out of stack are taken out of it.

Programs write a sum of 20,000 terms or a chain of 3,000 calls; people do not nest a hundred levels deep.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..bounds import BOUNDS
from .recovery import UNPARSED
from .walking import children

_BLOCKS = ("body", "orelse", "finalbody")


def prune(tree: ast.Module) -> list[ast.stmt]:
    """Replace what is too deep by an assignment that makes the names in it unknown; the statements taken out."""
    pruned: list[ast.stmt] = []
    blocks: list[tuple[list[ast.stmt], int]] = [(tree.body, 1)]
    while blocks:
        block, level = blocks.pop()
        for index, statement in enumerate(block):
            if level > BOUNDS.syntax_depth or (_is_long(statement) and _expressions_too_deep(statement)):
                pruned.append(statement)
                block[index] = _stand_in(statement)
            else:
                blocks.extend((inner, level + 1) for inner in _blocks(statement))
    return pruned


def _is_long(statement: ast.stmt) -> bool:
    """Each level takes at least one character, so what is short is not deep, and most statements are short."""
    return (statement.end_lineno or 0) > statement.lineno or (
        (statement.end_col_offset or 0) - statement.col_offset > BOUNDS.syntax_depth
    )


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for field in _BLOCKS:
        block = getattr(statement, field, None)
        if block:
            yield block
    for field in ("handlers", "cases"):
        for part in getattr(statement, field, ()):
            yield part.body


def _expressions_too_deep(statement: ast.stmt) -> bool:
    """Whether the statement without the statements inside it is deeper than BOUNDS.syntax_depth."""
    level, depth = list[ast.AST]([statement]), 0
    while level and depth < BOUNDS.syntax_depth:
        level = [part for node in level for part in children(node) if not isinstance(part, ast.stmt)]
        depth += 1
    return bool(level)


def _stand_in(statement: ast.stmt) -> ast.stmt:
    names: dict[str, None] = {}
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        names[statement.name] = None
    else:
        called = {id(n.func) for n in ast.walk(statement) if isinstance(n, ast.Call)}
        names = {n.id: None for n in ast.walk(statement) if isinstance(n, ast.Name) and id(n) not in called}
    unknown = ast.Name(UNPARSED, ast.Load())
    made: ast.stmt
    if isinstance(statement, ast.Return):
        made = ast.Return(unknown)
    elif isinstance(statement, ast.Raise):
        made = ast.Raise(unknown, None)
    elif names:
        made = ast.Assign([ast.Name(name, ast.Store()) for name in names], unknown)
    else:
        made = ast.Pass()
    for node in ast.walk(made):
        if isinstance(node, (ast.stmt, ast.expr)):
            ast.copy_location(node, statement)
    return made
