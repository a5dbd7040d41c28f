"""Packages that take their names from one of their modules, which is picked when the program runs.

    # backend/__init__.py
    mod = importlib.import_module(f".{name}", __name__)       name is "pytorch" or "jax"
    for api in vars(mod):
        setattr(sys.modules[__name__], api, getattr(mod, api))

What ``from backend import torch`` binds is what that module calls ``torch``, whichever it is: it is known if all of
those that have the name mean the same library by it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..source import cached_on_node, last_name, walk

SETTERS = frozenset(("setattr", "globals", "vars"))


@cached_on_node
def picked_modules(tree: ast.AST) -> tuple[str, ...]:
    """The names of modules that a package may take its names from: texts in it that may be names, if it imports a
    module by a computed name and sets names on itself.
    """
    called = {last_name(node.func) for node in walk(tree) if isinstance(node, ast.Call)}
    if not called & {"import_module", "__import__"} or not called & SETTERS or not _mentions_itself(tree):
        return ()
    return tuple(dict.fromkeys(_texts(tree)))


def _mentions_itself(tree: ast.AST) -> bool:
    """Whether it asks for its own module: ``sys.modules[__name__]``, ``globals()``."""
    return any(
        isinstance(node, ast.Subscript)
        and last_name(node.value) == "modules"
        and isinstance(node.slice, ast.Name)
        and node.slice.id == "__name__"
        or isinstance(node, ast.Call)
        and last_name(node.func) == "globals"
        for node in walk(tree)
    )


def _texts(tree: ast.AST) -> Iterator[str]:
    for node in walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            name = node.value.replace(".", "_")
            if name.isidentifier() and not name.startswith("_"):
                yield name
