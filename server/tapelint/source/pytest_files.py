"""Which files pytest runs, and which of their functions and classes are tests.

tests/test_net.py           as pytest is set up from the start
    def test_forward(): ...     `python_functions`, from the start what begins with "test"
    class TestNet: ...          `python_classes`, from the start what begins with "Test"
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from fnmatch import fnmatch

CONFTEST = "conftest.py"


@dataclass(frozen=True, slots=True)
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

    def serves_tests(self, path: str) -> bool:
        """Whether a file is there for tests only: it has some, or their fixtures."""
        return os.path.basename(path) == CONFTEST or self.is_test_file(path)

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
