"""What a project says about itself, in ``[tool.tapelint]`` of its pyproject.toml or in a tapelint.toml.

    [tool.tapelint]
    select = ["TL1"]                            # only these rules: codes or the beginnings of codes
    extend-select = ["TL207"]                   # these as well
    ignore = ["TL104"]                          # not these
    per-file-ignores = { "tests/*" = ["TL4"] }  # not these in files that match
    severities = { TL105 = "hint", TL4 = "off" }
    exclude = ["build", "src/generated/*.py"]   # files and folders that are not checked when a folder is
    callers = false                             # not what the scripts and tests that use a file show in it

The nearest file upward of what is analysed counts; a tapelint.toml (the same keys, no table) beats the pyproject.toml
beside it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from ..severity import Severity
from ..source.pytest_files import TestConventions
from . import keys, pytest_config
from .globs import matches
from .keys import PREFIX
from .toml import lines_of, table_of


@dataclass(frozen=True, slots=True)
class Config:
    """Which findings are wanted: those whose code begins with one of ``select``, less those that begin with ``ignore``.

    The longer match wins, so ``select = ["TL101"]`` with ``ignore = ["TL"]`` leaves TL101; of two equal ones ``ignore``
    does. Nothing selected: every rule that is on by default. ``extend_select`` adds to that, or to ``select``. A rule
    that is off by default is turned on by whatever selects it, be it ``TL207``, ``TL2`` or ``ALL``. What
    ``per_file_ignores`` or a severity of None (``off``) say holds whatever is selected.

    ``root`` is the folder of the configuration file; patterns are relative to it.
    ``tests`` is the configuration of pytest.
    """

    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    severities: tuple[tuple[str, Severity | None], ...] = ()
    exclude: tuple[str, ...] = ()
    callers: bool = True
    root: str = ""
    tests: TestConventions = TestConventions()

    def wants(self, code: str, default: bool = True) -> bool:
        """Whether ``code`` is selected; ``default`` says what holds where nothing is."""
        selected = _longest(self.select, code) if self.select else 0 if default else -1
        return max(selected, _longest(self.extend_select, code)) > _longest(self.ignore, code)

    def names(self, code: str) -> bool:
        """Whether ``code`` is selected by name, in full or down to its family (``TL9``), and not with all others."""
        chosen = (*self.select, *self.extend_select)
        return any(len(prefix) > len(PREFIX) and code.startswith(prefix) for prefix in chosen) and self.wants(code)

    def grade(self, code: str, given: Severity, path: str) -> Severity | None:
        """How grave a finding in ``path`` is to the user that its rule calls ``given``; None where it is not wanted."""
        if not self.wants(code) or any(
            code.startswith(codes) and matches(pattern, path, self.root) for pattern, codes in self.per_file_ignores
        ):
            return None
        length = _longest(tuple(prefix for prefix, _ in self.severities), code)
        return next((severity for prefix, severity in self.severities if code[:length] == prefix), given)

    def overridden(self, by: Mapping[str, tuple[str, ...]]) -> Config:
        """The same with other selectors: those of ``select``, ``extend_select`` and ``ignore`` that ``by`` has."""
        return replace(
            self,
            select=by.get("select", self.select),
            extend_select=by.get("extend_select", self.extend_select),
            ignore=by.get("ignore", self.ignore),
        )

    def excludes(self, path: str) -> bool:
        """Whether a file or folder is not to be checked, unless it is named."""
        return any(matches(pattern, path, self.root) for pattern in self.exclude)


def _longest(prefixes: tuple[str, ...], code: str) -> int:
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=-1)


def load(near: Path) -> Config:
    """The configuration for a file or folder: that of the nearest configuration file upward, or the default."""
    found = find(near)
    return replace(_read(found) if found else Config(), tests=pytest_config.conventions_near(near))


def find(near: Path) -> Path | None:
    """The configuration file that counts for a file or folder. In a folder that may not be searched there is none: its
    files cannot be read either, which is said of them.
    """
    place = Path(os.path.abspath(near))
    folders = (place, *place.parents) if os.path.isdir(place) else place.parents
    return next((found for folder in folders if (found := _in(folder))), None)


@cache
def _in(folder: Path) -> Path | None:
    """The configuration file that lies in a folder."""
    own, project = folder / "tapelint.toml", folder / "pyproject.toml"
    if os.path.isfile(own):  # unlike Path.is_file it never raises
        return own
    return project if os.path.isfile(project) and table_of(project) is not None else None


def forget() -> None:
    """Read configuration files anew from now on: they may have changed."""
    _in.cache_clear()
    _read.cache_clear()
    pytest_config.forget()


@cache
def _read(path: Path) -> Config:
    return replace(from_table(table_of(path) or {}, str(path), lines_of(path)), root=str(path.parent))


def from_table(table: Mapping[str, object], origin: str, lines: keys.Lines = keys.nowhere) -> Config:
    """A Config of plain values, as TOML or an editor's settings hold them; ``origin`` is named in errors, with the line
    that ``lines`` knows for a word.
    """
    return Config(**keys.checked(table, lambda word: origin + lines(word)))
