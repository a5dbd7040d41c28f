"""TOML files: their table of settings, and on which line a word stands."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

from .keys import ConfigError, Lines

_HEADER = re.compile(r"\s*\[{1,2}\s*(?P<name>[^\]]*?)\s*\]")


def table_of(path: Path) -> Mapping[str, object] | None:
    """The settings of a TOML file; None where a pyproject.toml has none for this tool."""
    text = _text(path)
    is_project = path.name == "pyproject.toml"
    if is_project and "tapelint" not in text:
        return None
    try:
        table = read_toml(text)
    except ValueError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error
    except RecursionError as error:
        raise ConfigError(f"{path}: cannot be read: its brackets are nested too deeply") from error
    if not is_project:
        return table
    tools = table.get("tool", {})
    own = tools.get("tapelint") if isinstance(tools, dict) else None
    if own is not None and not isinstance(own, dict):
        raise ConfigError(f"{path}: tool.tapelint must be a table")
    return own


def lines_of(path: Path) -> Lines:
    """Finds the line of a key or a value among the settings: the parser does not tell."""
    rows = _text(path).splitlines()
    ours = path.name != "pyproject.toml"
    settings: list[tuple[int, str]] = []
    for number, row in enumerate(rows, 1):
        header = _HEADER.match(row)
        if header and path.name == "pyproject.toml" and "=" not in row:
            ours = header["name"].replace('"', "").startswith("tool.tapelint")
        if ours:
            settings.append((number, row.partition("#")[0]))

    def line(word: str) -> str:
        whole = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
        return next((f":{number}" for number, row in settings if whole.search(row)), "")

    return line


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error


def read_toml(text: str) -> dict[str, object]:
    """Its table. Raises ValueError where it is not valid, or holds a number with more digits than Python reads;
    RecursionError where its brackets are nested too deeply.
    """
    if sys.version_info >= (3, 11):
        import tomllib as toml
    else:
        import tomli as toml
    found: dict[str, object] = toml.loads(text)
    return found
