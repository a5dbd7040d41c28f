"""The standard streams as they are found: closed, full, left by their reader; and what goes to standard error."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import TextIO

import click

LOG = "TAPELINT_LOG"
"""The environment variable that turns on the log, tracebacks included: debug, info, warning or error."""


NOBODY_READS = 141
"""The exit status where the reader of a pipe has gone."""
OF_A_RUN = (LOG, "NO_COLOR", "FORCE_COLOR")
"""The environment variables by which options reach the processes that are started."""
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


class OutputError(Exception):
    """Standard output cannot be written; the message says why."""


class Refusal(click.ClickException):
    """A command cannot do what it was asked for; the message says why. The exit status is 2."""

    exit_code = 2

    def show(self, file: object = None) -> None:
        tell("error", self.message)


class ReaderGone(OutputError):
    """The other end of the pipe is closed, as in ``tapelint check . | head``: no reason to complain."""


def prepare() -> None:
    """Make the streams fit for printing. A closed standard error is as good as one that no code reads."""
    try:
        while (spare := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass  # stays open: or a file that is opened later would take the place of a closed stream
        os.close(spare)
    except OSError:
        pass
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:  # a sign the terminal cannot show must not stop the report
            reconfigure(errors="backslashreplace")
    log()


@contextlib.contextmanager
def as_before() -> Iterator[None]:
    """What a command sets for the processes that it starts ends with it: another may follow in this process."""
    before = {name: os.environ.pop(name) for name in OF_A_RUN if name in os.environ}
    os.environ.update(before)
    try:
        yield
    finally:
        if os.environ.get(LOG) != before.get(LOG):
            _logging().basicConfig(level="WARNING", force=True)  # the next command begins its own log
        for name in OF_A_RUN:
            os.environ.pop(name, None)
        os.environ.update(before)


def log() -> None:
    """Libraries are silent, whatever they have to say, unless the user asks for the log."""
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # of the checked code, as in "invalid escape sequence"
    if os.environ.get(LOG):
        logging = _logging()
        form = "%(levelname)s %(name)s: %(message)s"
        logging.basicConfig(level=_level(), stream=sys.stderr, format=form, force=True)


def _level() -> str:
    level = os.environ.get(LOG, "").upper()
    return level if level in LEVELS else "DEBUG"


def _logging() -> ModuleType:
    """Python's logging, which a run without a log does not load."""
    import logging

    return logging


def is_logged(level: str) -> bool:
    """Whether the log has what is of this level."""
    return bool(os.environ.get(LOG)) and LEVELS.index(_level()) <= LEVELS.index(level.upper())


def note(level: str, message: str) -> None:
    """Put a line to the log, if there is one."""
    if is_logged(level):
        _logging().getLogger("tapelint").log(LEVELS.index(level.upper()) * 10 + 10, "%s", message)


def tell(severity: str, message: str) -> None:
    """Say on standard error what went wrong (``error``) or what the user should know of (``warning``)."""
    look = import_module("tapelint.report.look")  # most commands have nothing to complain of
    style = look.style_for(look.is_coloured(sys.stderr))
    say(f"{style(severity, severity)}: {message}")


@dataclass(slots=True)
class _Passing:
    """A line on the terminal that stands there until something else is printed."""

    is_shown: bool = False


_passing = _Passing()


def flash(text: str) -> None:
    """Show a line on the terminal that standard error is, in the place of the one shown before; empty: show none."""
    if text or _passing.is_shown:
        _passing.is_shown = bool(text)
        with contextlib.suppress(OSError):
            sys.stderr.write(f"\r\033[K{text}")
            sys.stderr.flush()


def say(text: str) -> None:
    """Print a line to standard error, if it can be written."""
    flash("")
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def crash(error: Exception) -> None:
    """Say that something happened that must not: in one line, with what to do about it."""
    what = " ".join(f"{type(error).__name__}: {error}".split())
    tell("error", f"internal error: {what}; this is a bug of tapelint, please report it with what {LOG}=debug prints")
    if os.environ.get(LOG):
        _logging().getLogger("tapelint").error("internal error", exc_info=error)


def explain(failure: str, trace: str) -> None:
    """Put the traceback of a failure that was reported to the log, if there is one."""
    note("error", f"{failure}\n{trace}")


@contextlib.contextmanager
def writing() -> Iterator[None]:
    """Around what is printed to standard output. Raises OutputError where that fails."""
    if sys.stdout is None:
        raise OutputError("it is closed")
    flash("")
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderGone from error
    except OSError as error:
        raise OutputError(error.strerror or str(error)) from error


def discard(*streams: TextIO | None) -> None:
    """What could not be written goes nowhere: Python would try again, and complain, when it flushes at exit."""
    for stream in filter(None, streams):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
