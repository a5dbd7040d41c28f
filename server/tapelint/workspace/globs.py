"""Patterns for files, as in ignore files: what a pattern matches it matches with all that is below.

build             every file or folder of that name
tests/*.py        below the folder of the configuration; `*` stays within one name
**/generated      at any depth
!keep.py          takes back what patterns before it match

What git and other tools are to leave alone: .gitignore, .ignore, .git/info/exclude and the user's own ignore file.

They count as in ruff: `.gitignore` within a git repository, from its root down to the folder of a file; `.ignore`
anywhere. A file nearer to the path wins over one further up. A folder that was named and is ignored itself is walked:
then only the files in it and below count.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..frozen import frozen
from .files import Nearest

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


@frozen
class Patterns:
    """Patterns below the folder ``root`` (of the run where that is empty), the last that matches a path decides. With
    ``is_rest`` they stand for all paths below ``root`` that they do not match.
    """

    lines: tuple[str, ...]
    root: str = ""
    is_rest: bool = False

    def matches(self, path: str) -> bool:
        """Whether they match ``path``, or a folder that it is in."""
        inside = below(path, self.root)
        if inside is None or not self.lines:
            return False
        return compiled(tuple(map(self._relative, self.lines))).match_file(inside) is not self.is_rest

    def _relative(self, line: str) -> str:
        """A pattern as ignore files have it: they know no ``./`` and no absolute paths."""
        sign, line = ("!", line[1:]) if line.startswith("!") else ("", line)
        if os.path.isabs(line):
            line = f"/{below(line, self.root) or line}"
        return sign + line.removeprefix("./")

    def __repr__(self) -> str:
        return f"Patterns({', '.join(self.lines)} below {self.root or '.'})"


def below(path: str, root: str) -> str | None:
    """``path`` from the folder ``root`` on, with slashes; None where it is not below it."""
    try:
        inside = os.path.relpath(os.path.abspath(path), root or os.curdir)
    except ValueError:  # another drive
        return None
    is_outside = inside == os.curdir or inside == os.pardir or inside.startswith(os.pardir + os.sep)
    return None if is_outside else inside.replace(os.sep, "/")


def compiled(lines: Iterable[str]) -> GitIgnoreSpec:
    """Raises ValueError for a pattern that is none."""
    return _compiled(tuple(lines))


@lru_cache(maxsize=1024)
def _compiled(lines: tuple[str, ...]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # most projects without patterns never need it

    try:
        return GitIgnoreSpec.from_lines(lines)
    except re.error as error:
        raise ValueError(str(error)) from error


def complaint(pattern: str, root: str) -> str | None:
    """Why a pattern is none; None where it can be used. One that quietly matches nothing is none."""
    if re.search(r"(?<!\\)\{[^{}]*,[^{}]*\}", pattern):
        return "braces are not expanded; write one pattern for each"
    if os.pardir in pattern.split("/"):
        return "it leaves the folder of the configuration"
    if os.path.isabs(pattern) and below(pattern, root) is None and not pattern.startswith("/"):
        return "it is outside the folder of the configuration"
    if pattern.startswith("/") and os.path.isdir(pattern) and below(pattern, root) is None:
        return "it is outside the folder of the configuration"
    try:
        known = list(compiled((pattern.removeprefix("!"),)).patterns)
    except ValueError as error:
        return str(error)
    if not known or known[0].include is None or re.fullmatch(r"!?\./*", pattern):
        return "it names nothing"
    return None


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
