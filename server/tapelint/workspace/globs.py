"""Patterns for files, as in ignore files: what a pattern matches it matches with all that is below.

build             every file or folder of that name
tests/*.py        below the folder of the configuration; `*` stays within one name
**/generated      at any depth
!keep.py          takes back what patterns before it match
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from ..frozen import frozen

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
