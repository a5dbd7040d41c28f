"""The project around a file: its configuration and its files."""

from __future__ import annotations

from .config import Config, ConfigError, find, forget, from_table, load
from .files import discover

__all__ = ["Config", "ConfigError", "discover", "find", "forget", "from_table", "load"]
