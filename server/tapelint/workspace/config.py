"""What a project says about itself, in ``[tool.tapelint]`` of its pyproject.toml or in a tapelint.toml.

    [tool.tapelint]
    select = ["TL1"]                            # only these rules: codes or the beginnings of codes
    extend-select = ["TL207"]                   # these as well
    ignore = ["TL104"]                          # not these
    per-file-ignores = { "tests/*" = ["TL4"] }  # not these in files that match
    extend-per-file-ignores = {}                # nor these
    fixable = ["ALL"]                           # only these are fixed
    unfixable = ["TL201"]                       # not these
    extend-fixable = []                         # these as well
    severities = { TL105 = "hint", TL4 = "off" }
    severity = "warning"                        # only what is at least as grave
    fail-on = "error"                           # the exit status is 1 for what is at least as grave
    output-format = "grouped"                   # how findings are printed
    fix = true                                  # files are fixed
    fix-only = true                             # and what is left is not reported
    unsafe-fixes = true                         # with unsafe fixes, too
    show-fixes = true                           # and it is listed what was fixed
    baseline = "tapelint-baseline.json"         # the findings that are known
    exclude = ["build"]                         # files and folders that are not checked, instead of the usual ones
    extend-exclude = ["src/generated/*.py"]     # these as well
    force-exclude = true                        # not even where they are named
    respect-gitignore = false                   # what git ignores is checked
    callers = false                             # not what the scripts and tests that use a file show in it
    follow-installed = true                     # installed libraries that use PyTorch are executed, too
    cache-dir = "build/tapelint"                # where what was found is kept for the next run
    required-version = ">=0.1"                  # which versions of tapelint this is for
    extend = "../pyproject.toml"                # what that says counts where this says nothing

The nearest file upward of what is analysed counts; a tapelint.toml (the same keys, no table) beats the pyproject.toml
beside it. Where there is none, that of the user does (``user_folder``); its patterns are below the current folder.

The user's own configuration lies where ruff looks for its own:

$XDG_CONFIG_HOME/tapelint/tapelint.toml     ~/.config where that variable names no absolute path
%APPDATA%\\tapelint\\tapelint.toml            on Windows
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from ..frozen import frozen
from ..severity import Severity
from ..source.pytest_files import TestConventions
from . import all_settings, globs, keys, pytest_config
from .files import EXCLUDED, Nearest
from .globs import Patterns, below
from .keys import PREFIX, ConfigError
from .toml import lines_of, table_of

USUAL = (Patterns(EXCLUDED),)
"""What is excluded where no configuration says what is."""
_USUAL = frozenset(EXCLUDED)
_EXTENDED = ("extend_select", "extend_ignore", "extend_exclude", "extend_fixable", "extend_per_file_ignores")
"""Fields that a configuration adds to those of the one that it extends."""
OF_A_RUN = ("output_format", "fix", "fix_only", "unsafe_fixes", "show_fixes")
"""Fields that say what a run of the command line does with findings; no finding depends on them. Those of the current
folder count.
"""
OF_A_PROJECT = (
    *("exclude", "extend_exclude", "force_exclude", "respect_gitignore", "baseline"),
    *("cache_dir", "required_version", "extend", "root"),
)
"""Fields that say which files are checked, which findings are known, and where things are. What is found in a file that
is checked does not depend on them.
"""


@frozen
class Config:
    """Which findings are wanted: those whose code begins with one of ``select``, less those that begin with ``ignore``.

    The longer match wins, so ``select = ["TL101"]`` with ``ignore = ["TL"]`` leaves TL101; of two equal ones ``ignore``
    does. Nothing selected: every rule that is on by default. ``extend_select`` adds to that, or to ``select``. A rule
    that is off by default is turned on by whatever selects it, be it ``TL207``, ``TL2`` or ``ALL``. What
    ``per_file_ignores`` or a severity of None (``off``) say holds whatever is selected. ``fixable`` and ``unfixable``
    are as ``select`` and ``ignore``.

    What matches one of ``exclude`` or ``extend_exclude`` is not checked, with ``force_exclude`` not even where it is
    named. ``unsafe_fixes`` that are neither wanted nor unwanted are counted. ``root`` is the folder of the file.
    ``tests`` is the configuration of pytest. With ``ignore_noqa``, which no file can say, comments silence nothing.
    """

    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[Patterns, tuple[str, ...]], ...] = ()
    extend_per_file_ignores: tuple[tuple[Patterns, tuple[str, ...]], ...] = ()
    fixable: tuple[str, ...] = (PREFIX,)
    unfixable: tuple[str, ...] = ()
    extend_fixable: tuple[str, ...] = ()
    severities: tuple[tuple[str, Severity | None], ...] = ()
    severity: Severity = Severity.HINT
    fail_on: Severity = Severity.INFORMATION
    output_format: str = ""
    fix: bool = False
    fix_only: bool = False
    unsafe_fixes: bool | None = None
    show_fixes: bool = False
    baseline: str = ""
    exclude: tuple[Patterns, ...] = USUAL
    extend_exclude: tuple[Patterns, ...] = ()
    force_exclude: bool = False
    respect_gitignore: bool = True
    callers: bool = True
    follow_installed: bool = False
    cache_dir: str = ""
    required_version: str = ""
    extend: str = ""
    root: str = ""
    ignore_noqa: bool = False
    tests: TestConventions = TestConventions()

    def wants(self, code: str, default: bool = True) -> bool:
        """Whether ``code`` is selected; ``default`` says what holds where nothing is."""
        selected = _longest(self.select, code) if self.select else 0 if default else -1
        ignored = _longest((*self.ignore, *self.extend_ignore), code)
        return max(selected, _longest(self.extend_select, code)) > ignored

    def names(self, code: str) -> bool:
        """Whether ``code`` is selected by name, in full or down to its family (``TL9``), and not with all others."""
        chosen = (*self.select, *self.extend_select)
        return any(len(prefix) > len(PREFIX) and code.startswith(prefix) for prefix in chosen) and self.wants(code)

    def fixes(self, code: str) -> bool:
        """Whether findings of ``code`` can be fixed."""
        return _longest((*self.fixable, *self.extend_fixable), code) > _longest(self.unfixable, code)

    def grade(self, code: str, given: Severity, path: str) -> Severity | None:
        """How grave a finding in ``path`` is to the user that its rule calls ``given``; None where it is not wanted."""
        if not self.wants(code) or any(
            code.startswith(codes) and patterns.matches(path)
            for patterns, codes in (*self.per_file_ignores, *self.extend_per_file_ignores)
        ):
            return None
        length = _longest(tuple(prefix for prefix, _ in self.severities), code)
        grade = next((severity for prefix, severity in self.severities if code[:length] == prefix), given)
        return grade if grade is not None and grade <= self.severity else None

    def excludes(self, path: str) -> bool:
        """Whether a file or folder is not to be checked, unless it is named."""
        if self.exclude is USUAL:
            own = not _USUAL.isdisjoint((below(path, self.root) or "").split("/"))
        else:
            own = any(patterns.matches(path) for patterns in self.exclude)
        return own or any(patterns.matches(path) for patterns in self.extend_exclude)


def _longest(prefixes: tuple[str, ...], code: str) -> int:
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=-1)


def load(near: Path) -> Config:
    """The configuration for a file or folder: that of the nearest configuration file upward, or the user's, or the
    default.
    """
    found, own = _of_project(near), _of_user()
    config = _read(found) if found else _read_of_user(own, os.getcwd()) if own else Config()
    return replace(config, tests=pytest_config.conventions_near(near))


def find(near: Path) -> Path | None:
    """The configuration file that counts for a file or folder, if there is any."""
    return _of_project(near) or _of_user()


def _of_project(near: Path) -> Path | None:
    """The nearest configuration file. In a folder that may not be searched there is none: its files cannot be read
    either, which is said of them.
    """
    place = os.path.abspath(near)
    return _nearest(place if os.path.isdir(place) else os.path.dirname(place))


@cache
def _of_user() -> Path | None:
    folder = user_folder()
    return _in(str(folder)) if folder else None


def _in(folder: str) -> Path | None:
    """The configuration file that lies in a folder."""
    own, project = os.path.join(folder, "tapelint.toml"), os.path.join(folder, "pyproject.toml")
    if os.path.isfile(own):  # unlike Path.is_file it never raises
        return Path(own)
    return Path(project) if os.path.isfile(project) and table_of(Path(project)) is not None else None


_nearest = Nearest(_in)


def forget() -> None:
    """Read configuration files anew from now on: they may have changed."""
    _nearest.forget()
    for known in (_read, _of_user, _read_of_user):
        known.cache_clear()
    globs.forget()
    pytest_config.forget()


@cache
def _read(path: Path) -> Config:
    return read(path)


@lru_cache(maxsize=16)
def _read_of_user(path: Path, folder: str) -> Config:
    """The user's configuration in a run that was started in ``folder``."""
    return replace(read(path, root=folder), root="")


def read(path: Path, root: str = "", seen: tuple[Path, ...] = ()) -> Config:
    """The configuration of a file, with what it extends; raises ConfigError. Its patterns are below ``root`` or, where
    that is empty, below its folder. ``seen`` are the files that extend it.
    """
    origin, lines = str(path), lines_of(path)
    table, root = table_of(path), root or str(path.parent)
    fields = all_settings.checked(table or {}, lambda word: origin + lines(word), root)
    base = Config()
    if "extend" in fields:
        above = Path(os.path.normpath(path.parent / keys.expanded(fields["extend"])))
        if above == path or above in seen:
            raise ConfigError(f"{origin}{lines('extend')}: extend: {above} extends this file")
        if not os.path.isfile(above):
            raise ConfigError(f"{origin}{lines('extend')}: extend: there is no file {above}")
        base = read(above, seen=(*seen, path))
    return replace(over(base, fields), root=root)


def over(base: Config, fields: Mapping[str, Any]) -> Config:
    """A configuration with other fields; those of ``extend-...`` are added to what it has."""
    added = {name: getattr(base, name) + fields[name] for name in _EXTENDED if name in fields}
    return replace(base, **{**fields, **added})


def from_table(
    table: Mapping[str, object],
    origin: str,
    lines: keys.Lines = keys.nowhere,
    base: Config | None = None,
    root: str = "",
) -> Config:
    """A Config of plain values, as TOML, the command line or an editor's settings hold them, over ``base``; ``origin``
    is named in errors, with the line that ``lines`` knows for a word. Patterns are below ``root``.
    """
    return over(base or Config(), all_settings.checked(table, lambda word: origin + lines(word), root))


def user_folder() -> Path | None:
    """The folder of the user's configuration, whether it is there or not; None where the user has no home."""
    variable, default = ("APPDATA", "AppData/Roaming") if os.name == "nt" else ("XDG_CONFIG_HOME", ".config")
    named = os.environ.get(variable, "")
    if os.path.isabs(named):
        return Path(named, "tapelint")
    home = os.path.expanduser("~")
    return Path(home, default, "tapelint") if os.path.isabs(home) else None
