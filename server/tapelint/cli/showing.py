"""``--show-files`` and ``--show-settings``: what would be checked, and under which configuration."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..severity import Severity
from ..workspace import Config, find
from ..workspace.globs import Patterns
from .streams import writing

_HIDDEN = ("root", "tests", "extend", "required_version", "ignore_noqa")
"""Fields of a configuration that are no keys of it, or have done what they are for."""


def show_files(files: Iterable[str]) -> None:
    """Print the absolute paths of the files that would be checked."""
    with writing():
        for file in files:
            print(os.path.abspath(file))


def show_settings(file: str, config: Config, finds_files: bool) -> None:
    """Print the configuration of a file."""
    with writing():
        for line in settings_of(file, config, finds_files):
            print(line)


def settings_of(file: str, config: Config, finds_files: bool) -> Iterator[str]:
    """The configuration of a file as TOML, and which file has it where those of the project count."""
    origin = find(Path(file)) if finds_files else None
    yield f"# Settings for {os.path.abspath(file)}"
    yield f"# from {origin}" if origin else "# from no file of the project"
    for field in fields(config):
        if field.name not in _HIDDEN and (value := getattr(config, field.name)) is not None:
            yield _setting(field.name.replace("_", "-"), value)


def _setting(key: str, value: Any) -> str:
    """The line of one key."""
    match value:
        case bool():
            shown = json.dumps(value)
        case Severity():
            shown = _quoted(value.word)
        case str():
            shown = _quoted(value)
        case ((Patterns(), tuple()), *_):
            shown = f"{{ {', '.join(f'{_quoted(_words([files])[0])} = {_quoted(codes)}' for files, codes in value)} }}"
        case ((str(), _), *_):
            shown = f"{{ {', '.join(f'{code} = {_quoted(_word(severity))}' for code, severity in value)} }}"
        case _:
            shown = _quoted(_words(value))
    return f"{key} = {shown}"


def _quoted(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _words(entries: Iterable[object]) -> list[str]:
    """Patterns and codes as they are written."""
    words: list[str] = []
    for entry in entries:
        if isinstance(entry, Patterns):
            words += (f"{'!' * entry.is_rest}{line}" for line in entry.lines)
        else:
            words.append(str(entry))
    return words


def _word(severity: Severity | None) -> str:
    return severity.word if severity else "off"
