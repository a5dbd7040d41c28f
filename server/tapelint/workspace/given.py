"""What the command line says of the configuration, over that of the project's files or instead of them; and which files
are a project's own: what stands in them is reported there.

project/train.py                  the file that is checked
project/nets/unet.py              its own: below the same root, and no configuration leaves it out
project/.venv/..., node_modules   other people's
elsewhere/common.py               found through `sys.path`, outside of the project
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from ..frozen import frozen
from . import all_settings, keys, pytest_config
from .config import Config, load, over, read
from .files import is_environment, is_excluded_by_name
from .keys import ConfigError
from .resolver import Resolver
from .toml import read_toml

OPTION = "--config"


@frozen
class Given:
    """``file`` counts instead of the files that are found, with its patterns below ``root``, by default the current
    folder; none does where it ``is_isolated``. ``fields`` are those of a Config, the later over the earlier ones.
    """

    file: str = ""
    is_isolated: bool = False
    fields: tuple[tuple[str, Any], ...] = ()
    root: str = ""

    @property
    def finds_files(self) -> bool:
        """Whether the configuration files of the project count."""
        return not (self.file or self.is_isolated)

    def config(self, near: Path) -> Config:
        """The configuration that counts for a file or folder; raises ConfigError."""
        if self.finds_files:
            config = load(near)
        else:
            base = _instead(self.file, self.root) if self.file else Config()
            config = replace(base, tests=pytest_config.conventions_near(near))
        return self.over(config)

    def over(self, config: Config) -> Config:
        """A configuration with the fields that are given."""
        for name, value in self.fields:
            config = over(config, {name: value})
        return config


def given_by(configs: Iterable[str], is_isolated: bool, options: Iterable[tuple[str, object]]) -> Given:
    """``configs`` are paths or settings (``ignore = ["TL4"]``), as ``--config`` takes them; ``options`` are the keys
    that have an option of their own, with its value. Raises ConfigError.
    """
    file, fields = "", list[tuple[str, Any]]()
    for text in configs:
        if os.path.isfile(text):
            if file:
                raise ConfigError(f"{OPTION}: two files, {file} and {text}; give one")
            file = text
        else:
            fields += _settings(text).items()
    if file and is_isolated:
        raise ConfigError(f"{OPTION} {file}: goes not with --isolated")
    if file:
        _instead(file)
    for key, value in options:
        fields.append(_option(key, value))
    return Given(file, is_isolated, tuple(fields))


def _option(key: str, value: object) -> tuple[str, Any]:
    """The field of a key that has an option of its own."""
    field, option = key.replace("-", "_"), f"--{key}"
    if all_settings.SETTINGS[key].kind is all_settings.SELECTORS and isinstance(value, tuple):
        return field, keys.codes(value, lambda word: option)
    return field, all_settings.checked({key: value}, lambda word: "the command line", os.getcwd())[field]


def _settings(text: str) -> dict[str, Any]:
    """The fields of a setting as TOML writes it."""
    if "=" not in text:
        raise ConfigError(f"{OPTION}: there is no file {text}")
    try:
        table = read_toml(text)
    except ValueError as error:
        raise ConfigError(f"{OPTION}: {text!r} is neither a file nor a setting in TOML: {error}") from error
    return all_settings.checked(table, lambda word: OPTION, os.getcwd())


def forget() -> None:
    """Read the files that were named anew from now on."""
    _instead.cache_clear()


@cache
def _instead(file: str, root: str = "") -> Config:
    """The configuration of a file that was named; its patterns are below the current folder, as ruff has it."""
    return read(Path(os.path.abspath(file)), root=root or os.getcwd())


def checked_as(path: str, resolver: Resolver, main: str, given: Given) -> Config | None:
    """The configuration, with what the command line says, that counts for a file which ``main`` imports; None where
    that is none of its project, or excluded.
    """
    return checked_below(path, resolver.root(main), given)


def checked_below(path: str, root: str, given: Given) -> Config | None:
    """The same for a file that a project imports whose root is an absolute path."""
    place = os.path.abspath(path)
    if not place.startswith(root.rstrip(os.sep) + os.sep):
        return None
    folders = [folder for folder in map(str, Path(place).parents) if len(folder) > len(root)]
    if any(map(is_environment, folders)):
        return None
    try:
        config = given.config(Path(path))
    except ConfigError:
        return None
    is_usual = not config.root and any(map(is_excluded_by_name, folders))  # the run may be elsewhere
    return None if is_usual or config.excludes(path) else config
