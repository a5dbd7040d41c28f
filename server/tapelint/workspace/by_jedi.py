"""What a search by path cannot know: a file that changes ``sys.path`` itself. Here jedi follows what it does.

    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "common"))
    from metrics import accuracy

Everything else is found without jedi, which takes a third of a second to load. As it is usually called it executes
code: it starts interpreters, imports what it cannot read, unpickles its own cache. The environment here does none of
that: it answers from paths alone, loads no module but those that are part of the interpreter (without ``builtins`` jedi
knows no True and fails), and keeps its cache in a folder that is new and gone afterwards.
"""

from __future__ import annotations

import ast
import logging
import os
import sys
import tempfile
from functools import lru_cache
from importlib.machinery import PathFinder
from typing import Any

from ..source import rows

logger = logging.getLogger(__name__)


@lru_cache(maxsize=256)
def locate(module: str, importer: str, text: str) -> str | None:
    """The absolute path of ``module`` as the file ``importer`` with this ``text`` imports it; None if unknown."""
    place = _place(module, text)
    if place is None:
        return None
    try:
        return _ask(importer, text, *place)
    except ImportError:
        logger.info("jedi is not installed: what %s adds to sys.path is not followed", importer)
    except Exception:  # a fault of jedi's costs one import; the user can do nothing about it
        logger.debug("jedi cannot say what %s is in %s", module, importer, exc_info=True)
    return None


def _place(module: str, text: str) -> tuple[int, int] | None:
    """Where the last word of ``module`` stands in an import statement, as jedi counts: rows from 1, columns from 0."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        if any(f"{name}.".startswith(f"{module}.") for name in names):
            column = rows(text)[node.lineno - 1].find(module, node.col_offset)
            return (node.lineno, column + len(module) - 1) if column >= 0 else None
    return None


def _ask(importer: str, text: str, row: int, column: int) -> str | None:
    import jedi

    folder = os.path.dirname(importer)
    project = jedi.Project(folder, sys_path=[folder], smart_sys_path=False, load_unsafe_extensions=False)
    with tempfile.TemporaryDirectory() as cache:
        before, jedi.settings.cache_directory = jedi.settings.cache_directory, cache
        try:
            script = jedi.Script(text, path=importer, project=project, environment=_environment())
            for name in script.goto(row, column, follow_imports=True):
                path = name.module_path
                if name.type == "module" and path is not None and path.suffix == ".py":
                    return os.path.abspath(str(path))
        finally:
            jedi.settings.cache_directory = before
    return None


def _environment() -> Any:
    """jedi's idea of an interpreter, made of paths."""
    from jedi.api.environment import InterpreterEnvironment
    from jedi.inference.compiled.subprocess import InferenceStateSameProcess

    class Quiet(InferenceStateSameProcess):
        """Answers questions about modules without importing any that is a file."""

        def load_module(self, dotted_name: str, **rest: Any) -> Any:
            if dotted_name not in sys.builtin_module_names:
                return None
            return super().__getattr__("load_module")(dotted_name=dotted_name, **rest)

        def get_module_info(self, sys_path: Any = None, string: str = "", full_name: str = "", **rest: Any) -> Any:
            from jedi.file_io import FileIO

            inside = rest.get("path")
            if string in sys.builtin_module_names and inside is None:
                return None, False  # there is no file: jedi loads it
            if string in sys.stdlib_module_names and inside is None:
                return None, None  # what jedi brings along says enough of it
            found = PathFinder.find_spec(string, sys_path if inside is None else inside)
            if found is None or not found.origin or not found.origin.endswith(".py"):
                return None, None
            return FileIO(found.origin), bool(found.submodule_search_locations)

    class Paths(InterpreterEnvironment):
        """The running interpreter's version and nothing of its packages."""

        def get_inference_state_subprocess(self, inference_state: Any) -> Quiet:
            return Quiet(inference_state)

        def get_sys_path(self) -> list[str]:
            return []

    return Paths()
