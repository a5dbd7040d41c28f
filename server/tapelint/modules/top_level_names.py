"""Which names the top level of a file binds, by its text.

import os                    `os` is bound whatever happens
if flag:
    limit = 3                `limit` may be bound
globals()["x"] = 1           any name may be
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..source import cached_on_node, walk

BINDING = frozenset("globals locals vars setattr exec eval import_module __import__ __getattr__ __dict__".split())
"""Names whose mention makes it possible that a file binds names that are not spelled in it: Python's
(https://docs.python.org/3/library/functions.html), ``importlib.import_module``, and the ``__getattr__`` of a module.
"""


@cached_on_node
def surely_bound(tree: ast.AST) -> frozenset[str]:
    """The names that are bound by statements of the top level itself, and not deleted again."""
    bound = {name for statement in getattr(tree, "body", ()) for name in _bound(statement)}
    names = (each for each in walk(tree) if isinstance(each, ast.Name))
    return frozenset(bound - {each.id for each in names if isinstance(each.ctx, ast.Del)})


def _bound(statement: ast.AST) -> Iterator[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=names):
            yield from ((each.asname or each.name).partition(".")[0] for each in names)
        case ast.ImportFrom(names=names):
            yield from (each.asname or each.name for each in names)
        case ast.Assign(targets=targets):
            yield from (each.id for each in targets if isinstance(each, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
            yield name


@cached_on_node
def may_bind_more(tree: ast.AST) -> bool:
    """Whether a file may bind names that are not spelled in it."""
    for node in walk(tree):
        if isinstance(node, ast.ImportFrom) and any(each.name == "*" for each in node.names):
            return True
        if isinstance(node, ast.Attribute) and node.attr == "modules" and getattr(node.value, "id", "") == "sys":
            return True
        mentioned = getattr(node, "id", getattr(node, "attr", getattr(node, "name", None)))
        if isinstance(mentioned, str) and mentioned in BINDING:
            return True
    return False
