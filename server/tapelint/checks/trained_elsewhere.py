"""Whether code goes backward through what it calls, by the text of all files that run.

trainer = Trainer(net)      main.py
trainer(loader)             no name says what runs: ``Trainer.__call__``
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ..models.torch.autograd.grad_access import facts
from ..source import cached_on_node, walk

Reach = tuple[frozenset[str], frozenset[str]]
"""By which attributes some code reaches for gradients itself, and the names of what it calls."""


def gradients_reached(node: ast.AST, *trees: ast.AST) -> frozenset[str]:
    """How some code reaches for gradients, itself or through what is defined in these files, however far."""
    touched, _, called = facts(node)
    seen, todo = set(called), list(called)
    while todo:
        name = todo.pop()
        for tree in trees:
            more, further = _defined(tree).get(name, NOTHING)
            touched |= more
            todo += further - seen
            seen |= further
    return touched


NOTHING: Reach = frozenset(), frozenset()


@cached_on_node
def _defined(tree: ast.AST) -> dict[str, Reach]:
    """The functions and classes of a file by name, all of one name together."""
    found: dict[str, Reach] = {}
    for node in walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                _add(found, node.name, [node])
            case ast.ClassDef():
                _add(found, node.name, _unnamed(node), {getattr(b, "attr", getattr(b, "id", "")) for b in node.bases})
    return found


def _unnamed(node: ast.ClassDef) -> list[ast.stmt]:
    """The methods of a class that run without being called by their names."""
    functions = (each for each in node.body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)))
    return [each for each in functions if each.name == "forward" or each.name.startswith("__")]


def _add(found: dict[str, Reach], name: str, code: Iterable[ast.AST], others: Iterable[str] = ()) -> None:
    touched, called = found.get(name, NOTHING)
    each = [facts(node) for node in code]
    found[name] = touched.union(*(own for own, _, _ in each)), called.union(others, *(names for _, _, names in each))
