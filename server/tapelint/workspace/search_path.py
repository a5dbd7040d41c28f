"""What a file adds to ``sys.path``: evaluated as far as it follows from the file's own path and from plain text.

    ROOT = Path(__file__).resolve().parents[1]
    sys.path.insert(0, str(ROOT / "common"))        project/common, of project/tools/run.py
    sys.path += [os.path.join(os.path.dirname(__file__), "lib")]
    sys.path.append(os.environ["EXTRA"])            not known: left out

Nothing is executed. A relative path is meant from the folder in which the program is started, which is not known: that
of the file and those above it are taken for it.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import PurePath

JOINED, FOLDER, SAME = "joined", "folder", "same"
FUNCTIONS = {
    "os.path.join": JOINED,
    "os.path.dirname": FOLDER,
    **{f"os.path.{name}": SAME for name in ("abspath", "realpath", "normpath", "expanduser")},
    **dict.fromkeys(("str", "os.fspath"), SAME),
    **dict.fromkeys(("Path", "PurePath", "pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath"), JOINED),
}
"""What functions do with paths, by the names under which programs call them."""
METHODS = {
    "joinpath": JOINED,
    **dict.fromkeys(("resolve", "absolute", "as_posix", "expanduser", "__str__"), SAME),
}
"""The same of the methods of a path."""
ADDING = frozenset(
    ("sys.path.append", "sys.path.insert", "sys.path.extend", "site.addsitedir", "path.append", "path.insert")
)
MOST_NAMES = 20
"""Names that are followed to what they are assigned, one to another."""


@lru_cache(maxsize=256)
def added_folders(importer: str, text: str) -> tuple[str, ...]:
    """The folders that the file ``importer`` with this ``text`` adds to ``sys.path``: absolute ones in the order of the
    text, or relative to the folder in which it is started.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    evaluate = _Paths(tree, importer)
    found = (evaluate(choice) for node in ast.walk(tree) for each in _added(node) for choice in _choices(each))
    return tuple(dict.fromkeys(os.path.normpath(each) for each in found if each))


def _added(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions whose values a statement adds to ``sys.path``."""
    match node:
        case ast.Call(args=[*_, last]) if (name := _dotted(node.func)) in ADDING:
            yield from last.elts if name == "sys.path.extend" and isinstance(last, (ast.List, ast.Tuple)) else (last,)
        case ast.AugAssign(target=ast.Attribute() as target, value=ast.List(elts=items) | ast.Tuple(elts=items)):
            yield from items if _dotted(target) == "sys.path" else ()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript() as target], value=value):
            place = target.value if isinstance(target, ast.Subscript) else target
            yield from _listed(value) if _dotted(place) == "sys.path" else ()


def _choices(node: ast.expr) -> Iterator[ast.expr]:
    """What an expression may be: the sides of a condition."""
    if isinstance(node, ast.IfExp):
        yield from _choices(node.body)
        yield from _choices(node.orelse)
    else:
        yield node


def _listed(value: ast.expr) -> Iterator[ast.expr]:
    """The items of a list that is spelled out, perhaps with others added to it."""
    if isinstance(value, (ast.List, ast.Tuple)):
        yield from value.elts
    elif isinstance(value, ast.BinOp):
        yield from _listed(value.left)
        yield from _listed(value.right)


def _dotted(node: ast.expr) -> str:
    """``a.b.c`` as text; empty where it is anything else."""
    if isinstance(node, ast.Name):
        return node.id
    owner = _dotted(node.value) if isinstance(node, ast.Attribute) else ""
    return f"{owner}.{node.attr}" if owner and isinstance(node, ast.Attribute) else ""


class _Paths:
    """Evaluates an expression to a path; None where that is not known."""

    def __init__(self, tree: ast.Module, importer: str) -> None:
        self._importer = importer
        self._assigned: dict[str, list[ast.expr]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                self._assigned.setdefault(node.targets[0].id, []).append(node.value)
        self._followed = 0

    def __call__(self, node: ast.expr) -> str | None:
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.Name(id="__file__"):
                return self._importer
            case ast.Name(id=name):
                return self._of_name(name)
            case ast.Call():
                return self._of_call(node)
            case ast.Attribute():
                return self._of_attribute(node)
            case ast.Subscript(value=ast.Attribute(value=owner, attr="parents"), slice=ast.Constant(value=int(index))):
                path = self(owner)
                parents = PurePath(path).parents if path is not None else ()
                return str(parents[index]) if 0 <= index < len(parents) else None
            case ast.BinOp(op=ast.Div(), left=left, right=right):
                return self._joined((left, right), os.path.join)
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                return self._joined((left, right), lambda *parts: "".join(parts))
            case ast.JoinedStr(values=values):
                parts = [each.value if isinstance(each, ast.FormattedValue) else each for each in values]
                return self._joined(parts, lambda *each: "".join(each))
        return None

    def _joined(self, nodes: list[ast.expr] | tuple[ast.expr, ...], put: Callable[..., str]) -> str | None:
        parts = [self(each) for each in nodes]
        return put(*parts) if parts and None not in parts else None

    def _of_name(self, name: str) -> str | None:
        """What a name is assigned, if that is one thing in the whole file."""
        values = self._assigned.get(name, [])
        if len(values) != 1 or self._followed >= MOST_NAMES:
            return None
        self._followed += 1
        try:
            return self(values[0])
        finally:
            self._followed -= 1

    def _of_attribute(self, node: ast.Attribute) -> str | None:
        if _dotted(node) in ("os.pardir", "os.curdir", "os.sep"):
            return {"os.pardir": "..", "os.curdir": ".", "os.sep": "/"}[_dotted(node)]
        path = self(node.value) if node.attr == "parent" else None
        return os.path.dirname(path) if path is not None else None

    def _of_call(self, node: ast.Call) -> str | None:
        name = _dotted(node.func)
        if name in ("os.getcwd", "Path.cwd", "pathlib.Path.cwd"):
            return "."
        does = FUNCTIONS.get(name)
        given: list[ast.expr] = list(node.args)
        if does is None and isinstance(node.func, ast.Attribute):
            does, given = METHODS.get(node.func.attr), [node.func.value, *node.args]
        if does is None or does is not JOINED and len(given) != 1:
            return None
        path = self._joined(given, os.path.join)
        if path is None or does is JOINED:
            return path
        return os.path.dirname(path) if does is FOLDER else os.path.normpath(path)
