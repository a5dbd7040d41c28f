"""Whether the engine is compiled (docs/design/compiled.md): then each of its modules has a library beside it."""

from __future__ import annotations

import os
from importlib.machinery import EXTENSION_SUFFIXES


def engine() -> str:
    """``compiled`` where this Python loads libraries in place of the engine's sources, otherwise ``python``."""
    module = os.path.join(os.path.dirname(__file__), "engine", "machine")
    return "compiled" if any(os.path.exists(module + suffix) for suffix in EXTENSION_SUFFIXES) else "python"
