"""Paths of files of the project, as a program writes them.

"conf/a.yaml"                      relative to where the program is started
Path(__file__).parent / "a.yaml"   relative to the folder of the file that says so
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable

from ..frozen import frozen
from ..stubs import BESIDE, PLAIN
from .options import settled
from .values import Const, Unknown, Value


@frozen
class ProjectPath:
    """The formula of a path: a name by which files are looked up like imports, and the file that looks for it."""

    name: str
    importer: str

    def __truediv__(self, relative: str) -> ProjectPath:
        """A path below a folder."""
        kind, _, own = self.name.partition(":")
        return ProjectPath(f"{kind}:{posixpath.normpath(posixpath.join(own, relative))}", self.importer)

    @property
    def parent(self) -> ProjectPath:
        kind, _, own = self.name.partition(":")
        is_above = posixpath.basename(own) in ("", ".", "..")
        above = posixpath.normpath(posixpath.join(own, "..")) if is_above else posixpath.dirname(own) or "."
        return ProjectPath(f"{kind}:{above}", self.importer)


def own_path(path: str) -> Unknown:
    """``__file__`` in the file at ``path``."""
    return of_path(ProjectPath(BESIDE + posixpath.basename(path.replace("\\", "/")), path), "__file__")


def of_path(path: ProjectPath, note: str = "path") -> Unknown:
    """A path as a value of the program; a text or an object, which is the same here."""
    return Unknown(note, False, formula=path)


def located(value: Value, importer: Callable[[], str]) -> ProjectPath | None:
    """The path that a value is; ``importer`` says which file runs as the program. An absolute one is outside."""
    if isinstance(value, Unknown) and isinstance(value.formula, ProjectPath):
        return value.formula
    text = settled(value)
    if not isinstance(text, Const) or not isinstance(text.value, str) or text.value[:1] in ("", "/", "~", "\\"):
        return None
    return ProjectPath(PLAIN + posixpath.normpath(text.value), importer())
