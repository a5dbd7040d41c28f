"""What is computed once for a node of a tree, and kept with it for as long as the node lives.

The value stands in the node's ``__dict__``, because a dictionary of its own, weak or not, would cost more than most of
what is kept. Reusing a tree after an edit drops it for the nodes whose contents changed (``source.tree_reuse``).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

T = TypeVar("T")
N = TypeVar("N", bound=ast.AST)

_PREFIX = "_tapelint_"


def cached_on_node(function: Callable[[N], T]) -> Callable[[N], T]:
    """Compute ``function`` once for a node. The result must depend on nothing but what is below the node."""
    name = f"{_PREFIX}{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def known(node: N) -> T:
        try:
            return node.__dict__[name]  # type: ignore[no-any-return]
        except KeyError:
            found = node.__dict__[name] = function(node)
            return found

    return known


def drop_cached(node: ast.AST) -> None:
    """Forget all that was computed for ``node``: what is below it has changed."""
    for name in [name for name in vars(node) if name.startswith(_PREFIX)]:
        delattr(node, name)
