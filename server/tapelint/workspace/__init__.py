"""The project around a file: its configuration and its files."""

from __future__ import annotations

from .config import Config, find, forget, from_table, load
from .files import discover, is_excluded_by_name
from .given import Given, checked_as, checked_below, given_by
from .globs import IgnoreFiles
from .keys import ConfigError
from .resolver import Resolver

__all__ = [
    "Config",
    "ConfigError",
    "Given",
    "IgnoreFiles",
    "Resolver",
    "checked_as",
    "checked_below",
    "discover",
    "find",
    "forget",
    "from_table",
    "given_by",
    "is_excluded_by_name",
    "load",
]
