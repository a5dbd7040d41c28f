"""Cuts a program down while it keeps a property: fewer statements, then simpler expressions."""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator
from itertools import islice

SECONDS = 30
"""What shrinking a program may take."""


def shrunk(text: str, keeps: Callable[[str], bool]) -> str:
    """The smallest text found for which ``keeps`` still holds; ``keeps(text)`` must.

    After a cut that keeps it the same way of cutting goes on in what is left, at the place it had come to.
    """
    end = time.monotonic() + SECONDS
    before = None
    while text != before:
        before = text
        for cuts in (_without_chunks, _simpler):
            place = 0
            while time.monotonic() < end:
                smaller = next(islice(cuts(text), place, None), None)
                if smaller is None:
                    break
                if len(smaller) < len(text) and keeps(smaller):
                    text = smaller
                else:
                    place += 1
    return text


def _blocks(tree: ast.Module) -> list[tuple[ast.AST, str]]:
    found: list[tuple[ast.AST, str]] = []
    for node in ast.walk(tree):
        found += [(node, field) for field in ("body", "orelse") if isinstance(getattr(node, field, None), list)]
    return found


def _without_chunks(text: str) -> Iterator[str]:
    """The text without one or several statements, large cuts first; and with a block in the place of its header."""
    tree = ast.parse(text)
    total = max(len(getattr(node, field)) for node, field in _blocks(tree))
    size = total
    while size:
        for index, (node, field) in enumerate(_blocks(tree)):
            body = getattr(node, field)
            for start in range(len(body) - size, -1, -max(size, 1)):
                if size < len(body) or field == "orelse":
                    yield _edited(tree, index, start, size, [])
        size //= 2
    for index, (node, field) in enumerate(_blocks(tree)):
        for start, statement in enumerate(getattr(node, field)):
            if isinstance(statement, (ast.For, ast.While, ast.If, ast.With)):
                yield _edited(tree, index, start, 1, statement.body)


def _edited(tree: ast.Module, index: int, start: int, size: int, put: list[ast.stmt]) -> str:
    twin = copy.deepcopy(tree)
    node, field = _blocks(twin)[index]
    getattr(node, field)[start : start + size] = copy.deepcopy(put)
    return ast.unparse(twin) + "\n"


def _simpler(text: str) -> Iterator[str]:
    """The text with one expression replaced by one of its parts, or an argument dropped."""
    tree = ast.parse(text)
    places = list(_expressions(tree))
    for index, (_, _, value) in enumerate(places):
        parts = [part for part in ast.iter_child_nodes(value) if isinstance(part, ast.expr)]
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            parts.append(value.func.value)
        for part in parts:
            twin = copy.deepcopy(tree)
            parent, spot, _ = list(_expressions(twin))[index]
            if isinstance(spot, tuple):
                getattr(parent, spot[0])[spot[1]] = copy.deepcopy(part)
            else:
                setattr(parent, spot, copy.deepcopy(part))
            yield ast.unparse(twin) + "\n"


def _expressions(tree: ast.Module) -> Iterator[tuple[ast.AST, str | tuple[str, int], ast.expr]]:
    """Every expression with the node and the field it stands in."""
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr) and not (isinstance(node, ast.Call) and name == "func"):
                yield node, name, value
            elif isinstance(value, list):
                yield from ((node, (name, i), item) for i, item in enumerate(value) if isinstance(item, ast.expr))
