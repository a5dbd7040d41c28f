"""Whether what a result rests on is still so. What was found out of a file of the system is kept for the run."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from functools import cache, partial

from ...source import INIT, SourceError, read
from ...workspace import Given, Resolver, checked_below
from ...workspace.callers import users
from .asking import Answer, Basis, config_digest, users_digest
from .encoding import digest

FRESH = 2_000_000_000
"""Nanoseconds: a file that was changed so shortly before may be changed again without another time of change."""

Stamp = tuple[int, int, int, str]
"""When a file was changed, its size and its inode, and what stands for its text."""


class Texts:
    """What stands for the text of each file. A file that has the stamp of an earlier run is not read."""

    def __init__(self) -> None:
        self.known: dict[str, Stamp] = {}
        self.fresh: dict[str, Stamp] = {}
        self._digests: dict[str, str | None] = {}

    def digest(self, path: str) -> str | None:
        """What stands for the text of the file at an absolute path; None where it cannot be read."""
        if path not in self._digests:
            self._digests[path] = self._looked_up(path)
        return self._digests[path]

    def _looked_up(self, path: str) -> str | None:
        try:
            status = os.stat(path)
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            known = self.known.get(path)
            if known and known[:3] == stamp:
                return known[3]
            found = digest(read(path))
        except FileNotFoundError:
            return digest("") if os.path.basename(path) == INIT else None
        except (OSError, ValueError, SourceError):
            return None
        if time.time_ns() - status.st_mtime_ns > FRESH:
            self.fresh[path] = (*stamp, found)
        return found


class Validity:
    """Answers once more what analyses have asked."""

    def __init__(self, texts: Texts, resolver: Resolver, given: Given) -> None:
        self._texts, self._resolver, self._given = texts, resolver, given
        self._in_folder = cache(resolver.by_folder)
        self._located = cache(resolver.locate)
        self._is_imported = cache(resolver.is_imported)
        self._root = cache(resolver.root)
        self._config_below = cache(self._config)

    def holds(self, basis: Basis, main: str) -> bool:
        """Whether the analysis of the file ``main`` would be given what it was given."""
        return (
            basis.text == self._texts.digest(os.path.abspath(main))
            and all(
                self._are_same(importer, asked.items(), basis.adding.get(importer, True))
                for importer, asked in basis.imports.items()
            )
            and all(config == self._config_below(path, self._root(main)) for path, config in basis.configs.items())
            and all(answer == self._is_imported(path) for path, answer in basis.imported.items())
            and all(answer == users_digest(users(path, self._resolver)) for path, answer in basis.users.items())
        )

    def _are_same(self, importer: str, asked: Iterable[tuple[str, Answer | None]], adds: bool) -> bool:
        """Whether imports mean what they meant; the importer ``adds`` folders to ``sys.path``."""
        folder = os.path.dirname(os.path.abspath(importer))
        locate = partial(self._located, importer=importer) if adds else partial(self._in_folder, own=folder)
        return all(answer == self._answer(locate(module)) for module, answer in asked)

    def _answer(self, path: str | None) -> Answer | None:
        found = self._texts.digest(path) if path else None
        return (path, found) if path and found else None

    def _config(self, path: str, root: str) -> str | None:
        return config_digest(checked_below(path, root, self._given))
