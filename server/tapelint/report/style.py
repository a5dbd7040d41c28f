"""Colour, where a terminal shows it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TextIO

Style = Callable[[str, str], str]
"""``style(name, text)``: the text in the style ``name`` of ``STYLES``."""

STYLES = {
    "error": "1;31",
    "warning": "1;33",
    "information": "1;36",
    "hint": "1;34",
    "bold": "1",
    "gutter": "1;34",
    "help": "1;36",
    "removed": "31",
    "added": "32",
}


def plain(style: str, text: str) -> str:
    """Text without colour."""
    return text


def ansi(style: str, text: str) -> str:
    """Text in colour, as terminals understand it."""
    return f"\033[{STYLES[style]}m{text}\033[0m" if text else text


def is_coloured(stream: TextIO) -> bool:
    """Whether to colour what goes to ``stream``: see https://no-color.org and https://force-color.org."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    if not stream.isatty() or os.environ.get("TERM") == "dumb":
        return False
    return sys.platform != "win32" or "WT_SESSION" in os.environ or "ANSICON" in os.environ
