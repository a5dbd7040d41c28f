"""What the text of a method says of the object that it runs on."""

from __future__ import annotations

import ast


def own_name(method: ast.AST) -> str | None:
    """What a method calls the object that it runs on: its first parameter."""
    arguments = getattr(method, "args", None)
    first = [*arguments.posonlyargs, *arguments.args][:1] if isinstance(arguments, ast.arguments) else []
    return first[0].arg if first else None


def own_attribute(node: ast.AST, own: str | None = "self") -> str | None:
    """``x`` of ``self.x``, where the object is called ``own``; None for anything else."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == own:
        return node.attr
    return None
