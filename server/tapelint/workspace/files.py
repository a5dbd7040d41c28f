"""Which files a path given by the user stands for, and what counts for a folder: what it says itself, or else what the
nearest folder above it says.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

SUFFIXES = (".py", ".pyw", ".ipynb")
EXCLUDED = (
    ".bzr",
    ".direnv",
    ".eggs",
    ".git",
    ".git-rewrite",
    ".hg",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".nox",
    ".pants.d",
    ".pyenv",
    ".pytest_cache",
    ".pytype",
    ".ruff_cache",
    ".svn",
    ".tox",
    ".venv",
    ".vscode",
    "__pycache__",
    "__pypackages__",
    "_build",
    "buck-out",
    "dist",
    "node_modules",
    "site-packages",
    "venv",
)
"""Names that no configuration need exclude, those of ruff 0.17: other people's code, and what tools make."""
_EXCLUDED = frozenset(EXCLUDED)


def is_excluded_by_name(path: str) -> bool:
    """Whether a file or folder has a name that is excluded where no configuration says otherwise."""
    return os.path.basename(path) in _EXCLUDED


def discover(
    path: str,
    is_excluded: Callable[[str], bool] = is_excluded_by_name,
    on_error: Callable[[OSError], None] = lambda error: None,
) -> Iterator[str]:
    """The file itself, or all Python files and notebooks below a folder in a stable order. A link to a folder is not
    followed, and what ``is_excluded`` is left out; a path that was named never is. A folder that cannot be listed is
    handed to ``on_error`` as the error that says so, and the others are walked.
    """
    path = str(Path(path))
    if not os.path.isdir(path):
        yield path
        return
    folders = ["" if path == os.curdir else path]
    while folders:
        folder = folders.pop()
        try:
            below, names = _listed(folder or os.curdir)
        except OSError as error:
            on_error(error)
            continue
        for name in names:
            if name.endswith(SUFFIXES) and not is_excluded(file := os.path.join(folder, name)):
                yield file
        wanted = (place for name in below if not is_environment(place := os.path.join(folder, name)))
        folders += [place for place in wanted if not is_excluded(place)][::-1]


def _listed(folder: str) -> tuple[list[str], list[str]]:
    """The names of the folders and of the files in a folder, each in order. Links to folders are neither."""
    with os.scandir(folder) as entries:
        found = sorted((entry.name, _is_folder(entry), entry) for entry in entries)
    below = [name for name, is_folder, entry in found if is_folder and not entry.is_symlink()]
    return below, [name for name, is_folder, _ in found if not is_folder]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link in a circle, or gone by now: reading it will say so
        return False


def is_environment(folder: str) -> bool:
    """Whether a folder is a virtual environment, whatever it is called."""
    return os.path.exists(os.path.join(folder, "pyvenv.cfg"))


Said = TypeVar("Said")


class Nearest(Generic[Said]):
    """``own`` tells what one folder says, or None. Each is asked once, and without recursion: there are folders deeper
    than Python recurses.
    """

    def __init__(self, own: Callable[[str], Said | None]) -> None:
        self._own = own
        self._known: dict[str, Said | None] = {}

    def __call__(self, folder: str) -> Said | None:
        """What counts for a folder, which is an absolute path."""
        known, unknown = self._known, []
        while folder not in known:
            unknown.append(folder)
            above, said = os.path.dirname(folder), self._own(folder)
            if said is not None or above == folder:
                known[folder] = said
                break
            folder = above
        found = known[folder]
        known.update(dict.fromkeys(unknown, found))
        return found

    def forget(self) -> None:
        """Ask the folders anew from now on: they may have changed."""
        self._known = {}
