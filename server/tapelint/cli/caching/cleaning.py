"""``tapelint clean``: removes the caches in the current folder and below."""

from __future__ import annotations

import os
import shutil

from ..streams import say, tell
from .store import caches_below


def run() -> int:
    """Remove them, and say which; the exit status."""
    status = 0
    for folder in caches_below(os.curdir):
        try:
            shutil.rmtree(folder)
        except OSError as error:
            tell("error", f"{os.path.normpath(folder)}: cannot be removed: {error.strerror or error}")
            status = 2
        else:
            say(f"Removing cache at: {os.path.normpath(folder)}")
    return status
