"""What git and other tools are to leave alone: .gitignore, .ignore, .git/info/exclude and the user's own ignore file.

They count as in ruff: `.gitignore` within a git repository, from its root down to the folder of a file; `.ignore`
anywhere. A file nearer to the path wins over one further up. A folder that was named and is ignored itself is walked:
then only the files in it and below count.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from .files import Nearest
from .globs import below, compiled


class IgnoreFiles:
    """The ignore files that count for what is below the folder ``start``."""

    def __init__(self, start: str) -> None:
        self._start = os.path.abspath(start)
        self._is_ignored_itself = False
        self._is_ignored_itself = self.ignores(self._start)

    def ignores(self, path: str) -> bool:
        """Whether a file or folder is to be left alone. The folders that it is in are not asked."""
        place = os.path.abspath(path)
        for root, lines in self._above(os.path.dirname(place)):
            inside = below(place, root)
            if inside is None:
                continue
            name = f"{inside}/" if os.path.isdir(place) else inside
            decided = compiled(lines).check_file(name).include
            if decided is not None:
                return decided
        return False

    def _above(self, folder: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The ignore files that count in a folder, the nearest first: where they are, and their lines."""
        repository = _repository(folder)
        while True:
            for name in (".ignore", ".gitignore") if repository else (".ignore",):
                if lines := _lines(os.path.join(folder, name)):
                    yield folder, lines
            if folder == self._start and self._is_ignored_itself:
                return
            if folder == repository or os.path.dirname(folder) == folder:
                break
            folder = os.path.dirname(folder)
        if repository:
            for path in (os.path.join(repository, ".git", "info", "exclude"), _of_user()):
                if lines := _lines(path):
                    yield repository, lines


def _own_repository(folder: str) -> str | None:
    return folder if os.path.lexists(os.path.join(folder, ".git")) else None


_repository = Nearest(_own_repository)
"""The root of the git repository that a folder is in."""


def _of_user() -> str:
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(home, "git", "ignore")


@cache
def _lines(path: str) -> tuple[str, ...]:
    """The patterns of an ignore file; those that are none are left out, as git does."""
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ()
    return tuple(line for line in text.splitlines() if line.strip() and not line.startswith("#") and _is_pattern(line))


def _is_pattern(line: str) -> bool:
    try:
        compiled((line,))
    except ValueError:
        return False
    return True


def forget() -> None:
    """Read ignore files anew from now on."""
    _repository.forget()
    _lines.cache_clear()
