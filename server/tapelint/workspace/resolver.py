"""Which file of the workspace an import means: looked up by path, as Python would, and nothing is executed.

    project/train.py            import helpers            project/helpers.py
    project/tools/run.py        from net.unet import U    project/net/unet.py, or project/src/net/unet.py
    project/net/unet.py         from . import layers      project/net/layers.py

Nothing says which folder the program will be started in, so every folder from the file's own up to the root of the
project is taken for one that Python searches, the nearest first; a folder that is a package comes last, since its
files are imported from outside. What the standard library or PyTorch calls by that name is never looked for.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache

from ..source import INIT, SourceError, read
from ..stubs import INSTALLED
from .importers import is_imported
from .installed import Installed, environment
from .search_path import IMPORTED_WHOLE, added_folders

Found = tuple[str, str]

MARKS = frozenset({".git", ".hg", "pyproject.toml", "setup.py", "setup.cfg", "tapelint.toml"})
"""What lies in the root of a project."""
LIBRARIES = sys.stdlib_module_names | {"torch", "numpy"}


class Resolver:
    """Finds modules for the files below ``roots`` (an editor's folders, or where the command line was started).

    ``unsaved`` are texts that an editor holds, by absolute path: they count instead of what is on disk. ``found``
    collects the absolute paths of what was found.
    """

    def __init__(
        self,
        roots: Iterable[str] = (),
        unsaved: Mapping[str, str] | None = None,
    ) -> None:
        self.roots = tuple(os.path.abspath(root) for root in roots)
        self.unsaved = unsaved or {}
        self._libraries: Installed | None = None
        self.found: set[str] = set()
        self._searched: dict[str, tuple[str, ...]] = {}
        self._imported: dict[str, bool] = {}
        self._adding: dict[str, tuple[str, tuple[tuple[str, ...], list[str]]]] = {}

    def __call__(self, module: str, importer: str) -> Found | None:
        """The path and the text of ``module`` as ``importer`` names it; see :data:`stubs.Resolve`."""
        path = self.locate(module, importer)
        if path is None:
            return None
        text = self.text(path)
        if text is None:
            return None
        self.found.add(path)
        return path if os.path.isabs(importer) else os.path.relpath(path), text

    def is_imported(self, path: str) -> bool:
        """Whether another file of the project may import this one; looked for once."""
        path = os.path.abspath(path)
        if path not in self._imported:
            root = self._root(os.path.dirname(path))
            self._imported[path] = is_imported(path, root, not MARKS.isdisjoint(_listing(root)), self.unsaved)
        return self._imported[path]

    def text(self, path: str) -> str | None:
        """What is in a file, or in the editor; empty for the file that a folder without ``__init__.py`` lacks."""
        known = self.unsaved.get(path)
        if known is not None:
            return known
        try:
            status = os.stat(path)
            return _read(path, status.st_mtime_ns, status.st_size)
        except FileNotFoundError:
            return "" if path.endswith(os.sep + INIT) else None
        except (OSError, ValueError, SourceError):
            return None

    def locate(self, module: str, importer: str) -> str | None:
        """The absolute path of the file that is ``module``. What a file adds to ``sys.path`` counts where nothing is
        found without it.
        """
        importer = os.path.abspath(importer)
        found = self.by_folder(module, os.path.dirname(importer))
        if found is None and _is_searched_for(module):
            return self._by_search_path(module.split("."), importer)
        return found

    def by_folder(self, module: str, own: str) -> str | None:
        """The same for every importer in the folder ``own``, an absolute path, that adds nothing to ``sys.path``."""
        if module.startswith(INSTALLED):
            return self._of_library(module.removeprefix(INSTALLED))
        return self._by_name(module, own)

    def _of_library(self, name: str) -> str | None:
        """The file of a module of a library, or where ``module:name`` is defined."""
        module, _, inside = name.partition(":")
        if self._libraries is None:
            self._libraries = Installed(environment(self.roots[0] if self.roots else os.getcwd()))
        return self._libraries.definition(module, inside) if inside else self._libraries.find(module)

    def _by_search_path(self, parts: list[str], importer: str) -> str | None:
        """The file of a module in a folder that ``importer`` adds to ``sys.path``."""
        added = self._added(importer)
        own = os.path.dirname(importer)
        around = _upward(own, self._root(own)) if added else ()
        places = (os.path.join(base, folder) for folder in added for base in around)
        found = (self._below(os.path.normpath(place), parts) for place in places if os.path.isdir(place))
        return next((path for path in found if path is not None and self._has(path)), None)

    def adds(self, importer: str) -> bool:
        """Whether a file adds folders to ``sys.path``; where it adds none, ``by_folder`` knows all that it can find."""
        return bool(self._added(os.path.abspath(importer)))

    def _added(self, importer: str) -> tuple[str, ...]:
        """The folders that ``importer`` adds to ``sys.path``, or a module that it imports for that; looked for once in
        each text of them.
        """
        folders, modules = self._read_for_path(importer)
        whole = dict.fromkeys(self.by_path(module, importer) for module in modules)
        others = (path for path in whole if path not in (None, importer))
        return folders + tuple(folder for path in others for folder in self._read_for_path(path)[0])

    def _read_for_path(self, path: str) -> tuple[tuple[str, ...], list[str]]:
        """The folders that a file adds by itself, and the modules that it imports whole."""
        text = self.text(path) or ""
        before, found = self._adding.get(path, ("", ((), list[str]())))
        if text is not before:
            found = added_folders(path, text), IMPORTED_WHOLE.findall(text)
            self._adding[path] = text, found
        return found

    def by_path(self, module: str, importer: str) -> str | None:
        """The absolute path of the file that is ``module``, by the folders alone."""
        return self._by_name(module, os.path.dirname(os.path.abspath(importer)))

    def _by_name(self, module: str, own: str) -> str | None:
        names = module.lstrip(".")
        level = len(module) - len(names)
        if level:
            for _ in range(level - 1):
                own = os.path.dirname(own)
            return self._below(own, names.split(".")) if names else self._init(own)
        if not _is_searched_for(module):
            return None
        parts = names.split(".")
        spare = None
        for folder in self.searched(own):
            found = self._below(folder, parts)
            if found is None:
                continue
            if self._has(found):
                return found
            spare = spare or found  # a folder without a file of its own gives way to a module further up, as in Python
        return spare

    def searched(self, own: str) -> tuple[str, ...]:
        """The folders that Python may search for a file in ``own``, the likeliest first."""
        known = self._searched.get(own)
        if known is None:
            outside: list[str] = []
            packages: list[str] = []
            for folder in _upward(own, self._root(own)):
                (packages if self._has(os.path.join(folder, INIT)) else outside).append(folder)
            bare = [*outside, *packages]
            known = self._searched[own] = tuple(
                place for folder in bare for place in (folder, os.path.join(folder, "src"))
            )
        return known

    def root(self, path: str) -> str:
        """The absolute path of the root of the project that a file is in."""
        return self._root(os.path.dirname(os.path.abspath(path)))

    def _root(self, own: str) -> str:
        """The highest folder to search: the editor's own, or that of the project, whichever is higher."""
        inside = [root for root in self.roots if own == root or own.startswith(root.rstrip(os.sep) + os.sep)]
        marked = next((f for f in _upward(own, "") if not MARKS.isdisjoint(_listing(f))), None)
        return min([*inside, *([marked] if marked else [])], key=len, default=own)

    def _below(self, folder: str, parts: list[str]) -> str | None:
        """The file of a dotted name below a folder: a package, a module, or a folder of modules."""
        for part in parts[:-1]:
            folder = os.path.join(folder, part)
            if not os.path.isdir(folder):
                return None
        return self._named(folder, parts[-1])

    def _named(self, folder: str, name: str) -> str | None:
        for path in (os.path.join(folder, name, INIT), os.path.join(folder, f"{name}.py")):
            if self._has(path):
                return path
        names = _listing(folder)
        below = os.path.join(folder, name)
        return self._init(below) if name in names and os.path.isdir(below) else None

    def _init(self, folder: str) -> str | None:
        """A package's own file, which need not exist where there is code below it."""
        path = os.path.join(folder, INIT)
        if self._has(path) or any(name.endswith(".py") or "." not in name for name in _listing(folder)):
            return path
        return None

    def _has(self, path: str) -> bool:
        folder, name = os.path.split(path)
        return path in self.unsaved or name in _listing(folder)


def _is_searched_for(module: str) -> bool:
    """Whether the folders that Python searches may have a module: it is no relative name, and that of no library."""
    parts = module.split(".")
    return parts[0] not in LIBRARIES and all(part.isidentifier() for part in parts)


def _upward(folder: str, root: str, most: int = 12) -> list[str]:
    """``folder`` and those above it, up to ``root``, ``most`` of them."""
    found = [folder]
    while len(found) < most and folder != root and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
        found.append(folder)
    return found


def _listing(folder: str) -> frozenset[str]:
    """The names in a folder, read again when it has changed."""
    try:
        return _names(folder, os.stat(folder).st_mtime_ns)
    except (OSError, ValueError):
        return frozenset()


@lru_cache(maxsize=4096)
def _names(folder: str, changed: int) -> frozenset[str]:
    try:
        return frozenset(os.listdir(folder))
    except OSError:
        return frozenset()


@lru_cache(maxsize=1024)
def _read(path: str, changed: int, size: int) -> str:
    return read(path)
