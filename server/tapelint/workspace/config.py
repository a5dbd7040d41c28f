"""What a project says about itself, in ``[tool.tapelint]`` of its pyproject.toml or in a tapelint.toml.

    [tool.tapelint]
    select = ["TL1"]        # only these rules: codes or the beginnings of codes
    ignore = ["TL104"]      # not these

The nearest file upward of what is analysed counts; a tapelint.toml (the same keys, no table) beats the pyproject.toml
beside it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

ALL = "ALL"
"""The selector that stands for every code."""
_CODE = re.compile(r"[A-Z]{1,4}[0-9]{0,4}")


class ConfigError(Exception):
    """A configuration that cannot be used: which file, what is wrong and what would be right."""


@dataclass(frozen=True, slots=True)
class Config:
    """Which findings are wanted: those whose code begins with one of ``select``, less those that begin with ``ignore``.

    The longer match wins, so ``select = ["TL101"]`` with ``ignore = ["TL"]`` leaves TL101; of two equal ones ``ignore``
    does. Nothing selected: every rule that is on by default. ``extend_select`` adds to that, or to ``select``. A rule
    that is off by default is turned on by whatever selects it, be it ``TL207``, ``TL2`` or ``ALL``.
    """

    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def wants(self, code: str, default: bool = True) -> bool:
        """Whether findings of ``code`` are reported; ``default`` says what holds where nothing is selected."""
        selected = _longest(self.select, code) if self.select else 0 if default else -1
        selected = max(selected, _longest(self.extend_select, code))
        ignored = _longest(self.ignore, code)
        return selected > ignored


def _longest(prefixes: tuple[str, ...], code: str) -> int:
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=-1)


def load(near: Path) -> Config:
    """The configuration for a file or folder: that of the nearest configuration file upward, or the default."""
    found = find(near)
    return _read(found) if found else Config()


def find(near: Path) -> Path | None:
    """The configuration file that counts for a file or folder."""
    folder = Path(near).absolute()
    return _find(folder if folder.is_dir() else folder.parent)


@cache
def _find(folder: Path) -> Path | None:
    own = folder / "tapelint.toml"
    if own.is_file():
        return own
    project = folder / "pyproject.toml"
    if project.is_file() and _table(project) is not None:
        return project
    return _find(folder.parent) if folder.parent != folder else None


def forget() -> None:
    """Read configuration files anew from now on: they may have changed."""
    _find.cache_clear()
    _read.cache_clear()


@cache
def _read(path: Path) -> Config:
    return from_table(_table(path) or {}, str(path))


def from_table(table: Mapping[str, object], origin: str) -> Config:
    """A Config of plain values, as TOML or an editor's settings hold them; ``origin`` is named in errors."""
    known = {field.name.replace("_", "-"): field.name for field in fields(Config)}
    values: dict[str, tuple[str, ...]] = {}
    for key, value in table.items():
        if key not in known:
            raise ConfigError(f"{origin}: unknown key '{key}'; the keys are {', '.join(known)}")
        if isinstance(value, str) or not isinstance(value, (list, tuple)):
            raise ConfigError(f'{origin}: {key} must be a list of codes, as in {key} = ["TL101"]')
        values[known[key]] = codes(value, f"{origin}: {key}")
    return Config(**values)


def codes(values: Collection[object], origin: str) -> tuple[str, ...]:
    """Codes and beginnings of codes, checked against the rules there are."""
    if not values:
        return ()
    checked = []
    existing = _rule_codes()
    for value in values:
        code = value.strip().upper() if isinstance(value, str) else ""
        if code == ALL:
            code = "TL"
        if not _CODE.fullmatch(code) or not any(rule.startswith(code) for rule in existing):
            raise ConfigError(f"{origin}: no rule has the code {value!r}; the codes are {', '.join(existing)}")
        checked.append(code)
    return tuple(checked)


def _rule_codes() -> list[str]:
    from ..rules import all_rules  # here because the rules bring the engine with them and most runs select nothing

    return sorted(rule.code for rule in all_rules())


def _table(path: Path) -> Mapping[str, object] | None:
    """The settings of a TOML file; None where a pyproject.toml has none for this tool."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
    is_project = path.name == "pyproject.toml"
    if is_project and "tapelint" not in text:
        return None
    if sys.version_info >= (3, 11):
        import tomllib as toml
    else:
        import tomli as toml
    try:
        table = toml.loads(text)
    except toml.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error
    if not is_project:
        return table
    tools = table.get("tool", {})
    own = tools.get("tapelint") if isinstance(tools, dict) else None
    if own is not None and not isinstance(own, dict):
        raise ConfigError(f"{path}: tool.tapelint must be a table")
    return own
