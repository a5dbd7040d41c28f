"""The project around a file: its configuration and its files."""

from __future__ import annotations

from .checked import checked_as
from .config import Config, find, forget, from_table, load
from .files import discover
from .keys import ConfigError, codes
from .resolver import Resolver

__all__ = [
    "Config",
    "ConfigError",
    "Resolver",
    "checked_as",
    "codes",
    "discover",
    "find",
    "forget",
    "from_table",
    "load",
]
