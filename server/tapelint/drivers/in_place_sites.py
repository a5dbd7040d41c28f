"""Functions whose text may write a tensor in place, themselves or through functions of the same file.

    x /= norm            result.clamp_(max=1)        states[i] = h        relu(x, inplace=True)        add(a, b, out=c)

Only what is cheap to see counts: a function without any of these is not executed for it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from .. import ops
from ..source import Definition, cached_on_node, definitions, walk

CONTAINERS = (ast.JoinedStr, ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp)
DISPLAYS = (ast.Constant, *CONTAINERS)
"""How numbers, texts and containers are written."""
MAKERS = frozenset("len int str dict list set defaultdict OrderedDict".split())
"""Python's functions that make such."""


def may_write(function: ast.AST, *trees: ast.AST) -> bool:
    """Whether a function may write in place, itself or through functions of these files, by their names."""
    writes, called = _facts(function)
    return writes or any(not called.isdisjoint(_writers(tree)) for tree in trees)


@cached_on_node
def _writers(tree: ast.AST) -> frozenset[str]:
    """The functions of a file that may write in place."""
    known: dict[str, list[tuple[bool, frozenset[str]]]] = {}
    for node in definitions(tree):
        if isinstance(node, Definition):
            known.setdefault(node.name, []).append(_facts(node))
    found = {name for name, facts in known.items() if any(writes for writes, _ in facts)}
    fresh = found
    while fresh:
        fresh = {
            name
            for name, facts in known.items()
            if name not in found and any(not called.isdisjoint(fresh) for _, called in facts)
        }
        found = found | fresh
    return frozenset(found)


@cached_on_node
def _facts(function: ast.AST) -> tuple[bool, frozenset[str]]:
    """Whether the text of a function writes in place, and the names of what it calls."""
    nodes = [*walk(function)]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    plain = _plain(nodes)
    return any(_writes(node) and _bound(node) not in plain for node in nodes), frozenset(_name(call) for call in calls)


def _plain(nodes: Iterable[ast.AST]) -> set[str]:
    """The variables that are given a number, a text or a container: `total = 0`."""
    given = (node for node in nodes if isinstance(node, ast.Assign) and _is_plain(node.value))
    return {target.id for node in given for target in node.targets if isinstance(target, ast.Name)}


def _is_plain(value: ast.expr) -> bool:
    return isinstance(value, DISPLAYS) or isinstance(value, ast.Call) and _name(value) in MAKERS


def _bound(node: ast.AST) -> str:
    """The variable that a node writes, itself or an item of it."""
    target = node.target if isinstance(node, ast.AugAssign) else getattr(node, "value", None)
    return target.id if isinstance(target, ast.Name) else ""


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _writes(node: ast.AST) -> bool:
    """Whether a node may write a tensor in place: by a method, by an argument, by an operator, or to a part of it."""
    match node:
        case ast.Call(keywords=keywords):
            name = _name(node)
            is_method = name.endswith("_") and not name.endswith("__") and bool(ops.candidates(name))
            return is_method or any(_asks_for_it(each) for each in keywords)
        case ast.AugAssign(ast.Attribute(), value=ast.Constant()):
            return False  # a counter
        case ast.AugAssign(value=value):
            return not isinstance(value, CONTAINERS)
        case ast.Subscript(slice=ast.Constant(str())):
            return False  # the key of a dictionary
        case ast.Subscript(ctx=ast.Store()):
            return True
    return False


def _asks_for_it(given: ast.keyword) -> bool:
    is_true = isinstance(given.value, ast.Constant) and given.value.value is True
    return given.arg == "out" or given.arg == "inplace" and is_true
