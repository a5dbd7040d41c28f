"""tests/ecosystem/repositories.toml: which repositories are looked at, each at one commit, and which of their files.

A repository with more files than its bound is looked at by a sample: files that mention ``backward`` first, then the
others, both in the order of a digest of their path. So the sample does not depend on the engine or on chance, and a
file that a later commit adds changes it by one file at most.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from tapelint.workspace import discover

from .settings import FOLDER, Malformed, read, tables

PINS = FOLDER / "repositories.toml"
FILES = 24
"""So many files with PyTorch are looked at in a repository that names no other bound."""

_KEYS = frozenset(("name", "commit", "files", "only", "exclude", "held_out"))
_NAME = re.compile(r"[\w.-]+/[\w.-]+")
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Pin:
    """One repository (``name`` is OWNER/NAME) at one commit."""

    name: str
    commit: str
    # how many files at most
    files: int = FILES
    # globs of paths in the repository: without any in `only` all files are meant
    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    # whether it was fetched after the engine was finished, to see what has to be expected of code never looked at
    held_out: bool = False

    @property
    def folder(self) -> str:
        """Its name as that of one folder."""
        return self.name.replace("/", "+")

    def covers(self, path: str) -> bool:
        """Whether the globs let a path in; ``*`` stands for any characters, slashes too."""
        is_in = not self.only or any(fnmatchcase(path, glob) for glob in self.only)
        return is_in and not any(fnmatchcase(path, glob) for glob in self.exclude)


@dataclass(frozen=True, slots=True)
class Sample:
    """The files of a repository that are looked at, out of so many with PyTorch."""

    files: tuple[str, ...]
    total: int


def pins(path: Path = PINS) -> list[Pin]:
    """All repositories, in the order of the file."""
    found = [
        Pin(
            table.text("name"),
            table.text("commit"),
            table.number("files", FILES),
            table.texts("only"),
            table.texts("exclude"),
            table.flag("held_out"),
        )
        for table in tables(path, read(path).get("repository", []), _KEYS)
    ]
    names = [pin.name for pin in found]
    for pin in found:
        if not _NAME.fullmatch(pin.name) or not _COMMIT.fullmatch(pin.commit):
            raise Malformed(f"{path}: {pin.name}: OWNER/NAME and a commit of 40 digits are expected")
        if names.count(pin.name) > 1:
            raise Malformed(f"{path}: {pin.name} is there twice")
    return found


def sample(pin: Pin, folder: Path) -> Sample:
    """The files to look at in the ``folder`` with the repository's files."""
    ranked: list[tuple[bool, str, str]] = []
    for file in map(Path, discover(str(folder))):
        path = file.relative_to(folder).as_posix()
        text = file.read_bytes()
        if b"torch" in text and pin.covers(path):
            digest = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()
            ranked.append((b"backward" not in text, digest, path))
    ranked.sort()
    return Sample(tuple(sorted(path for _, _, path in ranked[: pin.files])), len(ranked))
