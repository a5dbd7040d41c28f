"""What a file adds to ``sys.path``: evaluated as far as it follows from the file's own path and from plain text.

    ROOT = Path(__file__).resolve().parents[1]
    sys.path.insert(0, str(ROOT / "common"))        project/common, of project/tools/run.py
    sys.path += [os.path.join(os.path.dirname(__file__), "lib")]
    add_path(ROOT / "lib")                          a function of the file, which adds its parameter
    sys.path.append(os.environ["EXTRA"])            not known: left out

Nothing is executed. A relative path is meant from the folder in which the program is started, which is not known: that
of the file and those above it are taken for it.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import PurePath
from typing import Literal

from ..bounds import BOUNDS

Effect = Literal["joined", "folder", "same"]
JOINED: Effect = "joined"
FOLDER: Effect = "folder"
SAME: Effect = "same"

FUNCTIONS: dict[str, Effect] = {
    "os.path.join": JOINED,
    "os.path.dirname": FOLDER,
    **{f"os.path.{name}": SAME for name in ("abspath", "realpath", "normpath", "expanduser")},
    **dict.fromkeys(("str", "os.fspath"), SAME),
    **dict.fromkeys(("pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath"), JOINED),
}
"""What functions do with paths, by the modules in which they stand; Python's own have none."""
METHODS: dict[str, Effect] = {
    "joinpath": JOINED,
    **dict.fromkeys(("resolve", "absolute", "as_posix", "expanduser", "__str__"), SAME),
}
"""The same of the methods of a path."""
ADDING = frozenset(("sys.path.append", "sys.path.insert", "site.addsitedir"))
CONSTANTS = {"os.pardir": "..", "os.curdir": ".", "os.sep": "/"}
STARTED_IN = ("os.getcwd", "pathlib.Path.cwd")


_MENTION = re.compile(r"\bsys\.path\b|\bfrom\s+sys\s+import\b|\baddsitedir\b")
IMPORTED_WHOLE = re.compile(r"^import[ \t]+([^\W\d]\w*)[ \t]*(?:#|$)", re.MULTILINE)
"""A module that is imported by a line of its own, perhaps only for what it adds: ``import _init_paths``."""


def added_folders(importer: str, text: str) -> tuple[str, ...]:
    """The folders that the file ``importer`` with this ``text`` adds to ``sys.path``: absolute ones in the order of the
    text, or relative to the folder in which it is started.
    """
    return _evaluated(importer, text) if _MENTION.search(text) else ()


@lru_cache(maxsize=256)
def _evaluated(importer: str, text: str) -> tuple[str, ...]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    names = _Names(tree)
    evaluate = _Paths(names, importer)
    added = [each for node in ast.walk(tree) for each in _added(node, names)]
    found = (evaluate(choice) for each in (*added, *_handed(tree, names)) for choice in _choices(each))
    return tuple(dict.fromkeys(os.path.normpath(each) for each in found if each))


def _added(node: ast.AST, names: _Names) -> Iterator[ast.expr]:
    """The expressions whose values a statement adds to ``sys.path``."""
    match node:
        case ast.Call(args=[*_, last]):
            match names.qualified(node.func):
                case "sys.path.extend":
                    yield from _listed(last)
                case called if called in ADDING:
                    yield last
        case (
            ast.AugAssign(target=target, value=value)
            | ast.Assign(targets=[ast.Attribute() | ast.Subscript() as target], value=value)
        ):
            place = target.value if isinstance(target, ast.Subscript) else target
            yield from _listed(value) if names.qualified(place) == "sys.path" else ()


def _handed(tree: ast.Module, names: _Names) -> Iterator[ast.expr]:
    """What is given to the functions of a file that add a parameter of theirs."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            added = {
                each.id for node in ast.walk(function) for each in _added(node, names) if isinstance(each, ast.Name)
            }
            places = [at for at, parameter in enumerate(function.args.args) if parameter.arg in added]
            for call in ast.walk(tree) if places else ():
                if isinstance(call, ast.Call) and names.qualified(call.func) == function.name:
                    yield from (call.args[at] for at in places if at < len(call.args))


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


class _Names:
    """What the names of a file stand for: what it imports, and what it assigns."""

    def __init__(self, tree: ast.Module) -> None:
        self._imported: dict[str, str] = {}
        self._assigned: dict[str, list[ast.expr]] = {}
        for node in ast.walk(tree):
            match node:
                case ast.Import(names=found):
                    for each in found:
                        first = each.name.partition(".")[0]
                        self._imported[each.asname or first] = each.name if each.asname else first
                case ast.ImportFrom(module=str(module), level=0, names=found):
                    for each in found:
                        self._imported[each.asname or each.name] = f"{module}.{each.name}"
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._assigned.setdefault(name, []).append(value)

    def qualified(self, node: ast.expr) -> str:
        """``os.path.join`` for ``osp.join`` after ``import os.path as osp``. A name neither imported nor assigned
        stands for itself, for it is Python's own. Empty for anything else.
        """
        match node:
            case ast.Name(id=name):
                return self._imported.get(name, "" if name in self._assigned else name)
            case ast.Attribute(value=owner, attr=attr) if whole := self.qualified(owner):
                return f"{whole}.{attr}"
        return ""

    def value(self, name: str) -> ast.expr | None:
        """What a name is assigned, if that is one thing in the whole file."""
        match self._assigned.get(name):
            case [value]:
                return value
        return None


class _Paths:
    """Evaluates an expression to a path; None where that is not known."""

    def __init__(self, names: _Names, importer: str) -> None:
        self._names = names
        self._importer = importer
        self._followed = 0

    def __call__(self, node: ast.expr) -> str | None:
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.Name(id="__file__"):
                return self._importer
            case ast.Name() | ast.Attribute() if constant := CONSTANTS.get(self._names.qualified(node)):
                return constant
            case ast.Name(id=name):
                return self._of_name(name)
            case ast.Call():
                return self._of_call(node)
            case ast.Attribute(value=owner, attr="parent"):
                path = self(owner)
                return os.path.dirname(path) if path is not None else None
            case ast.Subscript(value=ast.Attribute(value=owner, attr="parents"), slice=ast.Constant(value=int(index))):
                path = self(owner)
                parents = PurePath(path).parents if path is not None else ()
                return str(parents[index]) if 0 <= index < len(parents) else None
        return self._of_parts(node)

    def _of_parts(self, node: ast.expr) -> str | None:
        match node:
            case ast.BinOp(op=ast.Div(), left=left, right=right):
                return self._joined((left, right), os.path.join)
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                return self._joined((left, right), _concatenated)
            case ast.JoinedStr(values=values):
                parts = [each.value if isinstance(each, ast.FormattedValue) else each for each in values]
                return self._joined(parts, _concatenated)
        return None

    def _joined(self, nodes: list[ast.expr] | tuple[ast.expr, ...], put: Callable[..., str]) -> str | None:
        parts = [self(each) for each in nodes]
        return put(*parts) if parts and None not in parts else None

    def _of_name(self, name: str) -> str | None:
        value = self._names.value(name)
        if value is None or self._followed >= BOUNDS.added_folders:
            return None
        self._followed += 1
        try:
            return self(value)
        finally:
            self._followed -= 1

    def _of_call(self, node: ast.Call) -> str | None:
        called = self._names.qualified(node.func)
        if called in STARTED_IN:
            return "."
        does = FUNCTIONS.get(called)
        given: list[ast.expr] = list(node.args)
        if does is None and isinstance(node.func, ast.Attribute):
            does, given = METHODS.get(node.func.attr), [node.func.value, *node.args]
        if does is None or does != JOINED and len(given) != 1:
            return None
        path = self._joined(given, os.path.join)
        if path is None or does == JOINED:
            return path
        return os.path.dirname(path) if does == FOLDER else os.path.normpath(path)


def _concatenated(*parts: str) -> str:
    return "".join(parts)
