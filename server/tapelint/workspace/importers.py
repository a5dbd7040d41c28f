"""Whether another file of the project may import a file: read off the texts, rather one too many than one too few.

    project/helper.py       may be imported if `main.py` says `from helper import bump`
    project/train-v2.py     only if any file imports by a name that it makes up (`import_module(name)`)
    project/look.ipynb      never: a notebook is no module

What a hazard of such a file depends on stands in the other one. Files are searched below the root of the project, and
where nothing marks that in the folders above, as long as they hold Python files; a project that is too large may import
anything.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from ..bounds import BOUNDS
from ..source import NOTEBOOK, SourceError, notebook, read
from .files import SUFFIXES, discover, is_excluded_by_name

MODULES = (".py", ".pyw")

_IMPORT = re.compile(r"(?<![\w.])(?:from|import)\b(?:\([^)]*\)|\\\r?\n|[^\n\\(])*")
_COMMENT = re.compile(r"#[^\n]*")
_MADE_UP = re.compile(
    r"\b(?:import_module|__import__|iter_modules|walk_packages|spec_from_file_location|SourceFileLoader|runpy)\b"
    r"|(?<![\w.])exec\s*\("
)
ANY = ""
"""Stands for every name: of a file that imports what cannot be read off its text."""


class TooMany(Exception):
    """There are more files than are looked at."""


def is_imported(path: str, root: str, is_marked: bool, unsaved: Mapping[str, str]) -> bool:
    """Whether a file of the project below ``root`` may be imported by another one; the root is certain if it
    ``is_marked``. ``unsaved`` are texts that count instead of what is on disk, by absolute path.
    """
    path = os.path.abspath(path)
    folder, name = os.path.split(path)
    if not name.endswith(MODULES):
        return False
    stem = name.rpartition(".")[0]
    wanted = {ANY, os.path.basename(folder) if stem == "__init__" else stem}
    if any(not wanted.isdisjoint(imported_words(text)) for other, text in unsaved.items() if other != path):
        return True
    try:
        others = (other for other in _files(folder, root, is_marked) if other != path and other not in unsaved)
        return any(not wanted.isdisjoint(_names_in(other)) for other in others)
    except TooMany:
        return True


def _files(folder: str, root: str, is_marked: bool) -> Iterator[str]:
    """The files of a project, those that lie in ``folder``, and those above a root that is not certain."""
    looked = 0

    def is_excluded(path: str) -> bool:
        nonlocal looked
        looked += 1
        if looked > BOUNDS.importers:
            raise TooMany
        return is_excluded_by_name(path)

    yield from discover(root, is_excluded)
    yield from _directly_in(folder)  # the project may skip it
    while not is_marked and (above := os.path.dirname(root)) != root and (names := _directly_in(above)):
        yield from names
        root = above


def _directly_in(folder: str) -> list[str]:
    try:
        names = [name for name in os.listdir(folder) if name.endswith(SUFFIXES)]
    except OSError:
        return []
    if len(names) > BOUNDS.importers:
        raise TooMany
    return [os.path.join(folder, name) for name in names]


def _names_in(path: str) -> frozenset[str]:
    """The names that a file may import; any at all where it cannot be read."""
    try:
        status = os.stat(path)
        return _read_names(path, status.st_mtime_ns, status.st_size)
    except FileNotFoundError:
        return frozenset()
    except (OSError, ValueError, SourceError):
        return frozenset((ANY,))


@lru_cache(maxsize=2 * BOUNDS.importers)
def _read_names(path: str, changed: int, size: int) -> frozenset[str]:
    text = read(path)
    return imported_words(notebook(text).text if path.endswith(NOTEBOOK) else text)


def imported_words(text: str) -> frozenset[str]:
    """Every word of the import statements of a text, and ``ANY`` if it imports by names that it makes up."""
    text = _COMMENT.sub("", text)
    found = {word for statement in _IMPORT.finditer(text) for word in re.findall(r"\w+", statement.group())}
    return frozenset(found | {ANY}) if _MADE_UP.search(text) else frozenset(found)
