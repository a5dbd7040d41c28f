"""The project around a file: its configuration and its files."""

from __future__ import annotations

from .config import Config, ConfigError, codes, find, forget, from_table, load
from .files import discover
from .resolver import Resolver

__all__ = ["Config", "ConfigError", "Resolver", "codes", "discover", "find", "forget", "from_table", "load"]
