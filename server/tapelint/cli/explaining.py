"""``tapelint explain``: from a traceback, or a line, to the finding that says why PyTorch raises there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from functools import cache

from ..analysis import Report
from ..report.look import look_for
from ..tracebacks import at_line, explained, findings, in_words, raised_in, seen, shown, the_one
from ..workspace import Resolver
from .named_file import program_in, report_on, split_target
from .streams import Refusal, tell, writing


def run(target: str | None) -> int:
    """Explain a line of a file, or the traceback on standard input, in the file ``target``; the exit status."""
    path, line = (None, None) if target in (None, "-") else split_target(target or "")
    look, resolver = look_for(sys.stdout), Resolver([os.curdir])
    if path is not None and line is not None:
        report = report_on(path, resolver, line)
        matches = at_line(report, line)
        _write(findings(matches, look) if matches else [f"Nothing is found at {path}:{line}.", *seen(report, line)])
        return 0
    if path is not None:
        program_in(path)  # what is wrong with it is said before anything else is read
    raised = raised_in(_pasted())
    if not raised:
        raise Refusal("standard input has no traceback and no error message")
    root = os.getcwd()
    _write(in_words(explained(the_one(raised), root, _analyser(resolver), path), root, path, look))
    return 0


def _pasted() -> str:
    if sys.stdin is None:
        return ""
    if sys.stdin.isatty():
        tell("note", "paste the traceback, then end it with Ctrl-D (on Windows Ctrl-Z and Enter)")
    return sys.stdin.buffer.read().decode(errors="replace")


def _analyser(resolver: Resolver) -> Callable[[str], Report | None]:
    """The analysis of a file that a traceback names; what is wrong with one is said."""

    @cache
    def analyse(path: str) -> Report | None:
        try:
            return report_on(shown(path, os.getcwd()), resolver)
        except Refusal as refusal:
            tell("warning", refusal.message)
            return None

    return analyse


def _write(lines: Iterable[str]) -> None:
    with writing():
        for line in lines:
            print(line)
        sys.stdout.flush()
