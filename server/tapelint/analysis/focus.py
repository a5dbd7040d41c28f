"""What of a caller need not be tried out: functions that have nothing to do with the file it is executed for.

from unet import UNet

def test_unet(): ...UNet()...     executed
def make(): return UNet()         executed
def test_made(): make()           executed: it mentions `make`
def test_other(): ...             not, unless another one calls it
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from ..frozen import frozen


@frozen
class Part:
    """A function or a method, the words in it (and in the bases and the ``__init__`` of its class), and the names by
    which others reach it.
    """

    node: ast.AST
    words: frozenset[str]
    names: frozenset[str]


def unrelated(tree: ast.Module, names: Collection[str]) -> frozenset[ast.AST]:
    """The functions and methods of a file that mention none of ``names``, nor a function or class that does. Methods
    of a class with such a base, or whose ``__init__`` mentions one, are related to it.
    """
    parts, known = [*_parts(tree)], set(names)
    while True:
        related = {part for part in parts if not known.isdisjoint(part.words)}
        new = {name for part in related for name in part.names} - known
        if not new:
            return frozenset(part.node for part in parts if part not in related)
        known |= new


def _parts(tree: ast.Module) -> Iterator[Part]:
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef):
            methods = [*_functions(statement.body)]
            shared = [*statement.bases, *(method for method in methods if method.name == "__init__")]
            common = frozenset(word for part in shared for word in _words(part))
            for method in methods:
                name = statement.name if method.name == "__init__" else method.name
                yield Part(method, common | _words(method), frozenset((name,)))
        for function in _functions([statement]):
            yield Part(function, _words(function), frozenset((function.name,)))


def _functions(body: list[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    yield from (part for part in body if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)))


def _words(part: ast.AST) -> frozenset[str]:
    """The names and attributes in a piece of syntax."""
    nodes = [*ast.walk(part)]
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return frozenset(names | {node.attr for node in nodes if isinstance(node, ast.Attribute)})
