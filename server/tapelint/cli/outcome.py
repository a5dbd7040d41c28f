"""What came of a run so far: the answers of its files, in order, and what could not be done, which is said at once.

How far a run has come, on the terminal that standard error is:

    checking: 120 of 1000 files, 4 findings, 35 s left

Only in a run of more than a second, and nowhere else: not in a pipe, not in CI, not beside a log.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ..headline import number_of
from ..report.look import look_for
from ..report.notice import Kind, tally
from ..source import SourceError
from ..source.writing import encoded
from ..workspace import Config, Given
from .chosen_files import Selection
from .documents import Document, difference, record
from .merging import Merged
from .printing import coloured_difference
from .request import Request, with_settings
from .result_cache import Cache
from .streams import LOG, explain, flash, say, tell, writing
from .task import FileResult


class Run:
    """One run. What was found waits for its end."""

    def __init__(self, request: Request, wanted: Given) -> None:
        self.given = wanted
        self.files = 0
        self.stats: Counter[str] = Counter()
        self.failures = 0
        self.fixed: dict[str, Counter[tuple[str, str]]] = {}
        self.found_unseen = 0
        self.unseen: Counter[Kind] = Counter()
        self.stdin, self.stdin_name = b"", ""
        self.callers_cut = False
        self.document = Document()
        self.request = request
        self.selection = Selection(wanted, lambda message, _: self.fail(message))
        request = self.request = with_settings(request, self.selection.config(os.curdir) or wanted.over(Config()))
        self.cache = None if request.no_cache else Cache(wanted, request.cache_dir)
        self.progress = Progress(is_shown=is_watched() and not request.is_terse)
        self.merged = Merged()
        self.names: list[str] = []
        # the files with backward calls that were not followed, by absolute path, and those of other files that were
        self.followed: dict[str, FileResult] = {}
        self.reached: frozenset[tuple[str, int, int]] = frozenset()
        # whether the files are so few that it says of each why nothing in it was followed
        self.explains_silence = False

    def fail(self, message: str, is_told: bool = False) -> None:
        """Something could not be done: the exit status will be 2. ``is_told``: the document has it already."""
        self.failures += 1
        if not is_told:
            self.document.failures.append(message)
        if not self.request.silent:
            tell("error", message)

    def warn(self, message: str) -> None:
        """Something the user should know of."""
        if not self.request.is_terse:
            tell("warning", message)

    def take(self, answer: FileResult) -> None:
        """Print what there is to say about a file."""
        unseen = tally(answer.notices)
        self.files += not unseen[Kind.NOT_READ]
        self.unseen += unseen
        self.found_unseen += answer.counts
        self.stats += answer.stats
        for message in answer.failures:
            self.fail(message, bool(answer.notifications or answer.listed))
        for message in answer.warnings:
            self.warn(message)
        for notice in answer.notices:
            if notice.trace:
                explain(notice.failure, notice.trace)
            elif notice.is_common and self.request.stats:
                say(notice.failure)
        if answer.missed or answer.coverage:
            self.followed[os.path.abspath(answer.path)] = answer
        self.reached |= answer.reached
        if answer.fixes:
            self.fixed[answer.path] = answer.fixed
        self.merged.add(answer)
        self.names.append(answer.path)
        self.document.records.append(record(answer))
        self.document.notifications += answer.notifications
        if self.request.diff or self.request.is_filter:
            with writing():
                self._print(answer)

    @property
    def tells_silence(self) -> bool:
        """Whether the run says where nothing was found since no backward was followed: people read what it prints."""
        request = self.request
        shows = request.output_format in ("full", "concise") and request.asked_format == request.output_format
        return shows and not (request.diff or request.fix_only or request.is_terse)

    @property
    def fixes(self) -> int:
        """How many fixes were made."""
        return sum(each.total() for each in self.fixed.values())

    def add_caller(self, answer: FileResult) -> None:
        """Take what a file that uses those of the run has found in them."""
        self.reached |= answer.reached
        self.merged.add_caller(answer)

    def _print(self, answer: FileResult) -> None:
        if self.request.diff:
            changes = difference(answer.path, answer.before, answer.after)
            sys.stdout.write(coloured_difference(changes, look_for(sys.stdout)))
        if self.request.is_filter and answer.path == self.stdin_name:
            self._pass_on(answer.after)
        sys.stdout.flush()

    def _pass_on(self, text: str) -> None:
        """Write what came from standard input to standard output, in the encoding it came in."""
        try:
            sys.stdout.buffer.write(encoded(self.stdin, text))
        except SourceError as error:
            self.fail(f"{self.stdin_name}: not fixed: {error}")
            sys.stdout.buffer.write(self.stdin)

    def interrupted(self, total: int | None) -> None:
        """Say how far the run has come; what was found is printed all the same, and nothing is written."""
        self.request = replace(self.request, add_ignore=None, write_baseline=False)
        how_far = f"after {self.files} of {number_of(total, 'file')}" if total else "before the first file"
        self.fail(f"interrupted {how_far}")


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
