"""The fields of a dataclass, as its class body says them."""

from __future__ import annotations

import ast

from .state import State
from .values import NONE, Class, HeapRef, Value


def fields(state: State, order: list[Value]) -> dict[str, tuple[Value | None, ast.expr, int]]:
    """The annotated fields of a dataclass in order, base classes first: default, annotation and the scope of both."""
    found: dict[str, tuple[Value | None, ast.expr, int]] = {}
    for kind in reversed(order):
        if not isinstance(kind, HeapRef):
            continue
        owner = state.get(kind.id, Class)
        for item in owner.node.body:
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                name = item.target.id
                default = owner.attributes.get(name, NONE) if item.value is not None else None
                found[name] = default, item.annotation, owner.scope
    return found
