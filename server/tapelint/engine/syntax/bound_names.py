"""The names that the code of a file binds, wherever it does: what it never binds is not there."""

from __future__ import annotations

import ast
import builtins

from ...source import SCOPES, cached_on_node, own_nodes, walk

EXCEPTIONS = frozenset(
    name for name, each in vars(builtins).items() if isinstance(each, type) and issubclass(each, BaseException)
)
"""The classes of exceptions, by all of their names (``IOError`` is ``OSError``)."""
BUILTINS = EXCEPTIONS | frozenset(
    "abs all any bool bytes callable classmethod dict dir divmod enumerate eval exit filter float format frozenset "
    "getattr globals hasattr hash id input int isinstance issubclass iter len list locals map max min next object "
    "open ord print property quit range repr reversed round set setattr slice sorted staticmethod str sum super tuple "
    "type vars zip".split()
)


def binds(name: str, *trees: ast.AST) -> bool:
    """Whether one of these files binds ``name`` in any way: assigns or defines it, or spells it in a text."""
    return any(name in _bound(tree) for tree in trees)


def any_names(*trees: ast.AST) -> bool:
    """Whether one of these files gives objects attributes by names that it does not spell."""
    return any(_names_computed(tree) for tree in trees)


@cached_on_node
def _names_computed(tree: ast.AST) -> bool:
    for node in walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="setattr") | ast.Attribute(attr="__setattr__"), args=[*_, name, _]):
                if not isinstance(name, ast.Constant):
                    return True
            case ast.Attribute(attr="__dict__") | ast.Call(func=ast.Name(id="vars")):
                return True
    return False


@cached_on_node
def _bound(tree: ast.AST) -> frozenset[str]:
    """The names that a file binds, as variables or attributes, by keywords, or by texts such as ``setattr`` takes."""
    found = set[str]()
    for node in walk(tree):
        match node:
            case ast.Attribute(attr=name, ctx=ast.Store()) | ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Constant(value=str(name)) if name.isidentifier():
                found.add(name)
            case ast.alias(name=name, asname=other):
                found.update((name.partition(".")[0], other or name))
            case ast.keyword(arg=str(name)):
                found.add(name)
            case ast.AnnAssign(target=ast.Name(id=name) | ast.Attribute(attr=name)):
                found.add(name)
    return frozenset(found)


@cached_on_node
def own_variables(function: ast.AST) -> frozenset[str]:
    """The variables that a function assigns to and that are its own: to read one before is an error."""
    found, shared = set[str](), set[str]()
    for node in own_nodes(function, (*SCOPES, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        match node:
            case ast.Global(names) | ast.Nonlocal(names):
                shared.update(names)
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
    return frozenset(found - shared)


@cached_on_node
def unpacked_into(scope: ast.AST) -> dict[ast.AST, int]:
    """Into how many names assignments unpack what an expression gives, by the expression and by the target."""
    found: dict[ast.AST, int] = {}
    for node in (each for each in walk(scope) if isinstance(each, ast.Assign)):
        for target in (each for each in node.targets if isinstance(each, (ast.Tuple, ast.List))):
            if not any(isinstance(name, ast.Starred) for name in target.elts):
                found[node.value] = found[target] = len(target.elts)
    return found
