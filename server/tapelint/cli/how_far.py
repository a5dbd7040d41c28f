"""How far a run has come, on the terminal that standard error is:

    checking: 120 of 1000 files, 4 findings, 35 s left

Only in a run of more than a second, and nowhere else: not in a pipe, not in CI, not beside a log.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from ..headline import number_of
from .streams import LOG, flash
from .task import FileResult

BEGIN, EVERY = 1.0, 0.1
"""Seconds after which something is shown, and until it is shown anew."""


def is_watched() -> bool:
    """Whether standard error is a terminal."""
    if os.environ.get(LOG) or os.environ.get("CI") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stderr.isatty()


@dataclass(slots=True)
class Progress:
    """Counts the answers of a run. ``show`` puts a line in the place of the one before."""

    show: Callable[[str], None] = flash
    clock: Callable[[], float] = time.monotonic
    total: int = 0
    done: int = 0
    found: int = 0
    is_shown: bool = field(default_factory=is_watched)
    # files whose result was known already, which says nothing about how long the others will take
    known: int = 0
    _start: float = 0.0
    _last: float = 0.0

    def begin(self, count: int, known: int) -> None:
        """So many files are to be checked, beside so many that are known."""
        self._start = self._start or self.clock()
        self.total += count + known
        self.done += known
        self.known += known

    def take(self, answer: FileResult) -> None:
        """A file was checked."""
        self.done += 1
        self.found += len(answer.found)
        now = self.clock()
        if self.is_shown and now - self._start >= BEGIN and now - self._last >= EVERY:
            self._last = now
            self.show(self.line(now - self._start))

    def line(self, seconds: float) -> str:
        """What is shown after so many seconds."""
        checked = self.done - self.known
        left = seconds / checked * (self.total - self.done) if checked else 0.0
        findings = number_of(self.found, "finding")
        return f"checking: {self.done} of {self.total} files, {findings}, {_duration(left)} left"


def _duration(seconds: float) -> str:
    """``45 s``, ``12 min``, ``2 h 5 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
