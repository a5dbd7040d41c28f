"""Where a name of an installed package is defined, however the package exports it: jedi follows that.

    from timm.utils import accuracy       timm/utils/metrics.py, which timm/utils/__init__.py takes it from

As jedi is usually called it executes code: it starts interpreters, imports what it cannot read, unpickles its own
cache. The environment here does none of that: it answers from paths alone, loads no module but those that are part of
the interpreter (without ``builtins`` jedi knows no True and fails), and keeps its cache in a new folder, which is gone
afterwards. jedi takes a tenth of a second to load, and as much for a question.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from functools import lru_cache
from importlib.machinery import PathFinder
from typing import Any

logger = logging.getLogger(__name__)


@lru_cache(maxsize=1024)
def defining_file(folders: tuple[str, ...], module: str, name: str) -> str | None:
    """The absolute path of the file that defines the function or class ``name`` under this very name, as ``from module
    import name`` finds it in ``folders``; None if that is not known.
    """
    try:
        return _ask(folders, module, name)
    except ImportError:
        logger.info("jedi is not installed: where %s of %s is defined is not looked for", name, module)
    except Exception:  # a fault of jedi's costs one name; the user can do nothing about it
        logger.debug("jedi cannot say where %s of %s is defined", name, module, exc_info=True)
    return None


def _ask(folders: tuple[str, ...], module: str, name: str) -> str | None:
    import jedi

    text = f"from {module} import {name}"
    project = jedi.Project(folders[0], sys_path=folders, smart_sys_path=False, load_unsafe_extensions=False)
    with tempfile.TemporaryDirectory() as cache:
        before, jedi.settings.cache_directory = jedi.settings.cache_directory, cache
        try:
            path = os.path.join(folders[0], "_.py")
            script = jedi.Script(text, path=path, project=project, environment=_environment())
            for found in script.goto(1, len(text) - 1, follow_imports=True):
                place = found.module_path
                if found.name == name and found.type in ("function", "class") and place is not None:
                    return os.path.abspath(str(place)) if place.suffix == ".py" else None
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
