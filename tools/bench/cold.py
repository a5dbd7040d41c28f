"""A cold start of the command line, as a commit hook pays it, and what it imports on the way."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from .generated import PLAIN, SMALL
from .timing import median_of, process, tapelint

RUNS = 5
LAZY = ("jedi", "pygls", "lsprotocol", "parso")
"""What a check without findings has no use for."""


def starts() -> dict[str, float]:
    """Median wall time of new processes, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        small, plain = Path(folder, "train.py"), Path(folder, "plain.py")
        small.write_text(SMALL, encoding="utf-8")
        plain.write_text(PLAIN, encoding="utf-8")
        runs = {
            "python that does nothing": (sys.executable, "-c", "pass"),
            "tapelint version": tapelint("version"),
            "tapelint check, file without torch": tapelint("check", str(plain)),
            "tapelint check, small training loop": tapelint("check", str(small)),
        }
        return {what: median_of(RUNS, process(*command)) for what, command in runs.items()}


def imported(among: Iterable[str] = LAZY) -> list[str]:
    """Which of the libraries ``tapelint check`` imports for a file that uses torch and has no findings."""
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder, "train.py")
        small.write_text(SMALL, encoding="utf-8")
        run = process(sys.executable, "-X", "importtime", *tapelint("check", str(small))[1:])()
    names = set(re.findall(r"^import time:.*\|\s*(\w+)", run.stderr, re.MULTILINE))
    if run.returncode != 0 or "tapelint" not in names:
        raise RuntimeError(f"the small program was not checked:\n{run.stdout}{run.stderr[-2000:]}")
    return sorted(names & set(among))
