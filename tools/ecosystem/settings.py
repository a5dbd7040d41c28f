"""The two kinds of TOML files of tests/ecosystem: their tables, with errors that name the file and the key."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from tapelint.workspace.toml import read_toml

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "ecosystem"
"""Where both kinds are: ``repositories.toml`` and ``findings/OWNER/NAME.toml``."""


class Malformed(Exception):
    """A file that is not as it should be; the message names it."""


class Table:
    """One table of a file: its values by key, each of the type that is asked for."""

    def __init__(self, path: Path, values: Mapping[str, object], keys: frozenset[str]) -> None:
        if unknown := values.keys() - keys:
            raise Malformed(f"{path}: unknown key: {', '.join(sorted(unknown))}")
        self._path = path
        self._values = values

    def text(self, key: str, default: str | None = None) -> str:
        """A text; without a ``default`` it must be there."""
        return self._of(key, str, self._values.get(key, default))

    def number(self, key: str, default: int | None = None) -> int:
        """An integer; without a ``default`` it must be there."""
        return self._of(key, int, self._values.get(key, default))

    def flag(self, key: str) -> bool:
        """True or false; false where it is missing."""
        return self._of(key, bool, self._values.get(key, False))

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; empty where it is missing."""
        return tuple(self._of(key, str, each) for each in self._of(key, list, self._values.get(key, [])))

    def _of(self, key: str, kind: type[T], value: object) -> T:
        if not isinstance(value, kind):
            raise Malformed(f"{self._path}: `{key}` must be {kind.__name__}, not {value!r}")
        return value


def read(path: Path) -> dict[str, object]:
    """What a file says."""
    try:
        return read_toml(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Malformed(f"{path}: not valid TOML: {error}") from error


def tables(path: Path, values: object, keys: frozenset[str]) -> list[Table]:
    """The tables of an array; none where there is no such array."""
    if not isinstance(values, list) or not all(isinstance(each, dict) for each in values):
        raise Malformed(f"{path}: an array of tables is expected")
    return [Table(path, each, keys) for each in values]
