"""Which expression a cursor means.

loss.backward()      on ``loss``: the tensor; on ``backward``: the call; on ``retain_graph=True``: that
y += 1               on ``y`` or ``+=``: the write
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from ..source import Source, Span

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
FLAGS = frozenset({"data", "grad", "requires_grad"})
"""Attributes of a tensor whose assignment does not put a tensor there that could be described."""


RETENTION = frozenset({"retain_graph", "create_graph"})
"""Arguments of a backward that are described on their own."""


def at_cursor(source: Source, row: int, column: int) -> list[ast.AST]:
    """The nodes around the cursor, outermost first; a cursor just behind a word still means the word."""
    inside = _around(source, source.tree, row, column)
    if inside and isinstance(inside[-1], ast.Name):
        return inside
    before = _around(source, source.tree, row, column - 1) if column > 1 else []
    return (
        before
        if before and isinstance(before[-1], (ast.Name, ast.Attribute)) and _ends(source, before[-1], row, column)
        else inside
    )


def _around(source: Source, node: ast.AST, row: int, column: int) -> list[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.JoinedStr) and sys.version_info < (3, 12):
            continue  # there the parts of an f-string carry no true positions
        placed = hasattr(child, "lineno")
        if placed and not isinstance(child, DEFINITIONS) and not holds(source.span(child), row, column):
            continue
        found = _around(source, child, row, column)
        if found or placed and holds(source.span(child), row, column):
            return [child, *found]
    return []


def holds(span: Span, row: int, column: int) -> bool:
    """Whether the character at ``row``, ``column`` is part of ``span``."""
    return (span.row, span.column) <= (row, column) < (span.end_row, span.end_column)


def _ends(source: Source, node: ast.AST, row: int, column: int) -> bool:
    span = source.span(node)
    return (span.end_row, span.end_column) == (row, column)


def subjects(path: list[ast.AST]) -> Iterator[ast.AST]:
    """What the cursor may mean, best first: the innermost expression, then what it is only the head of."""
    for index in range(len(path) - 1, -1, -1):
        node = path[index]
        parent = path[index - 1] if index else None
        whole = _meant_as_a_whole(node, parent)
        if whole is not None:
            yield whole
            return
        if not isinstance(node, ast.expr):
            return
        if not _is_flag(node):
            yield node
        if not _is_only_the_head(node, parent):
            return


def _meant_as_a_whole(node: ast.AST, parent: ast.AST | None) -> ast.AST | None:
    """The augmented assignment, or the argument that retains a graph, that a cursor on ``node`` means; else None."""
    if isinstance(node, ast.AugAssign):
        return node
    flag = parent if isinstance(parent, ast.keyword) else node
    if isinstance(flag, ast.keyword) and flag.arg in RETENTION:
        return flag
    return parent if isinstance(parent, ast.AugAssign) and parent.target is node else None


def _is_only_the_head(node: ast.expr, parent: ast.AST | None) -> bool:
    """Whether the cursor may as well mean ``parent``: the attribute, the call or the subscript that ``node`` begins."""
    if isinstance(parent, ast.Subscript):
        return isinstance(node, ast.Constant)
    return isinstance(parent, ast.Attribute) or isinstance(parent, ast.Call) and parent.func is node


def _is_flag(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr in FLAGS


def place_and_operand(node: ast.AST) -> tuple[ast.AST, ast.expr] | None:
    """For syntax that may write in place: the node a write is booked under, and the expression that is written."""
    if isinstance(node, ast.AugAssign):
        return node, node.target
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        return node, node.value
    if isinstance(node, ast.Call):
        return node, node.func.value if isinstance(node.func, ast.Attribute) else node
    return None
