"""Which files a path given by the user stands for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

SUFFIXES = (".py", ".pyw", ".ipynb")
SKIPPED = frozenset({"__pycache__", "__pypackages__", "node_modules", "site-packages", "venv"})
"""Folders that hold other people's code or none; hidden ones (``.git``, ``.venv``, ...) are skipped as well."""


def discover(path: Path, is_excluded: Callable[[Path], bool] = lambda path: False) -> Iterator[Path]:
    """The file itself, or all Python files and notebooks below a folder in a stable order. A link to a folder is not
    followed, and what ``is_excluded`` is left out; a path that was named never is.
    """
    if not path.is_dir():
        yield path
        return
    for folder, below, names in os.walk(path):
        below[:] = sorted(
            name for name in below if not _is_skipped(folder, name) and not is_excluded(Path(folder, name))
        )
        for name in sorted(names):
            if name.endswith(SUFFIXES) and not name.startswith(".") and not is_excluded(Path(folder, name)):
                yield Path(folder, name)


def _is_skipped(folder: str, name: str) -> bool:
    """Hidden folders, those of tools, and virtual environments whatever they are called."""
    return name.startswith(".") or name in SKIPPED or os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
