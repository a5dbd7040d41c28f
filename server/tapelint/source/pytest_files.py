"""Which files pytest runs, and which of their functions and classes are tests.

tests/test_net.py           as pytest is set up from the start
    def test_forward(): ...     `python_functions`, from the start what begins with "test"
    class TestNet: ...          `python_classes`, from the start what begins with "Test"
"""

from __future__ import annotations

import ast
import os
from fnmatch import fnmatch

from ..frozen import frozen
from .walking import cached_on_node, walk

CONFTEST = "conftest.py"
RUNNERS = frozenset(("pytest", "unittest", "*"))
"""Imports by which a file may have tests under any name."""


@frozen
class TestConventions:
    """What the configuration of pytest calls a test; as it stands here where it does not say."""

    __test__ = False

    files: tuple[str, ...] = ("test_*.py", "*_test.py")
    classes: tuple[str, ...] = ("Test",)
    functions: tuple[str, ...] = ("test",)
    # The folders that are searched for ``files``, relative to ``root``; all, if there are none.
    paths: tuple[str, ...] = ()
    # The folder of the configuration file.
    root: str = ""

    def is_test_file(self, path: str) -> bool:
        """Whether pytest looks for tests in a file."""
        whole = os.path.abspath(path).replace(os.sep, "/")
        return self._is_searched(whole) and any(
            fnmatch(whole, f"*/{pattern}") if "/" in pattern else fnmatch(os.path.basename(whole), pattern)
            for pattern in self.files
        )

    def serves_tests(self, path: str, tree: ast.Module) -> bool:
        """Whether a file is there for tests only: it has some, or their fixtures. A script that is merely called like
        a file of tests is run by itself: pytest finds none in it.
        """
        return os.path.basename(path) == CONFTEST or self.is_test_file(path) and self._may_hold_tests(tree)

    def _may_hold_tests(self, tree: ast.Module) -> bool:
        names = _names(tree)
        if not _is_script(tree) or not names.isdisjoint(RUNNERS):
            return True
        return any(self.is_test_function(name) or self.is_test_class(name) for name in names)

    def is_test_function(self, name: str) -> bool:
        return _is_named(name, self.functions)

    def is_test_class(self, name: str) -> bool:
        return _is_named(name, self.classes)

    def _is_searched(self, path: str) -> bool:
        folders = [f"{self.root}/{folder}".replace(os.sep, "/").rstrip("/") for folder in self.paths]
        return not folders or any(path == folder or fnmatch(path, f"{folder}/*") for folder in folders)


def _is_named(name: str, options: tuple[str, ...]) -> bool:
    """Whether a name begins as one of the options, or matches it where that is a pattern."""
    return any(name.startswith(each) or not set("*?[").isdisjoint(each) and fnmatch(name, each) for each in options)


def _is_script(tree: ast.Module) -> bool:
    """Whether the top level of a file does more than define things."""
    runs = (ast.For, ast.While, ast.With, ast.If)
    return any(isinstance(node, runs) or _is_call(node) for node in tree.body)


def _is_call(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


@cached_on_node
def _names(tree: ast.Module) -> frozenset[str]:
    """The names of what a file defines or imports, with the packages that it imports."""
    found = set[str]()
    for node in walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.add(node.name)
            case ast.Import(names) | ast.ImportFrom(names=names):
                found |= {each.asname or each.name.partition(".")[0] for each in names}
                if isinstance(node, ast.ImportFrom) and not node.level:
                    found.add((node.module or "").partition(".")[0])
    return frozenset(found)
