"""Functions whose text may write a tensor in place, themselves or through functions of the same file.

    x /= norm            result.clamp_(max=1)        states[i] = h        relu(x, inplace=True)        add(a, b, out=c)

Only what is cheap to see counts: a function without any of these is not executed for it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from .. import ops
from ..source import Definition, cached_on_node, definitions, walk


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
    called = set[str]()
    writes = False
    plain = _plain(function)
    for node in walk(function):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            called.add(name)
            writes |= _is_in_place(name) or _asks_for_it(node.keywords)
        elif isinstance(node, ast.AugAssign):
            is_counter = isinstance(node.target, ast.Attribute) and isinstance(node.value, ast.Constant)
            writes |= not (is_counter or _is_plain(node.target, plain) or _is_container(node.value))
        elif isinstance(node, ast.Assign):
            writes |= any(_is_part(target, plain) for target in node.targets)
    return writes, frozenset(called)


def _is_in_place(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__") and bool(ops.candidates(name))


def _asks_for_it(keywords: Iterable[ast.keyword]) -> bool:
    return any(
        k.arg == "out" or k.arg == "inplace" and isinstance(k.value, ast.Constant) and k.value.value is True
        for k in keywords
    )


def _is_part(target: ast.expr, plain: frozenset[str]) -> bool:
    """Whether an assignment goes to a part of what may be a tensor."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return any(_is_part(item, plain) for item in target.elts)
    if not isinstance(target, ast.Subscript):
        return False
    is_key = isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str)
    return not is_key and not _is_plain(target.value, plain)


@cached_on_node
def _plain(function: ast.AST) -> frozenset[str]:
    """The names that a function binds to numbers, texts, dicts and the like first."""
    found = set[str]()
    for node in walk(function):
        if isinstance(node, ast.Assign) and _is_plain(node.value, frozenset()):
            found.update(target.id for target in node.targets if isinstance(target, ast.Name))
    return frozenset(found)


def _is_plain(node: ast.expr, names: frozenset[str]) -> bool:
    """Whether an expression is no tensor for certain."""
    match node:
        case ast.Constant():
            return True
        case ast.Name(id=name):
            return name in names
        case ast.Call(func=ast.Name(id="len" | "int" | "str")):
            return True
    return _is_container(node)


def _is_container(node: ast.expr) -> bool:
    """Whether an expression is a text, a list or a dict."""
    match node:
        case ast.Constant(value=str()) | ast.JoinedStr() | ast.Dict() | ast.List() | ast.Tuple():
            return True
        case ast.ListComp() | ast.DictComp() | ast.SetComp():
            return True
        case ast.Call(func=ast.Name(id="dict" | "list" | "defaultdict" | "set" | "OrderedDict")):
            return True
    return False
