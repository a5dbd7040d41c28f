"""``tapelint explain``: from a traceback, or a line, to the finding that says why PyTorch raises there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path

from .. import analysis
from ..analysis import Report
from ..report.look import Look, look_for
from ..source import NOTEBOOK, SourceError, notebook, read
from ..tracebacks import at_line, explained, findings, in_words, raised_in, seen, shown, the_one
from ..workspace import ConfigError, Given, Resolver, checked_as, load
from .streams import tell, writing
from .tracing import split_target


def run(target: str | None) -> int:
    """Explain a line of a file, or the traceback on standard input, in the file ``target``; the exit status."""
    path, line = (None, None) if target in (None, "-") else split_target(target or "")
    if path is not None and (complaint := _complaint(path)):
        tell("error", complaint)
        return 2
    analyse, look = _analyser(), look_for(sys.stdout)
    if path is not None and line is not None:
        return _explain_line(path, line, analyse, look)
    raised = raised_in(_pasted())
    if not raised:
        tell("error", "standard input has no traceback and no error message")
        return 2
    root = os.getcwd()
    _write(in_words(explained(the_one(raised), root, analyse, path), root, path, look))
    return 0


def _complaint(path: str) -> str:
    """Why a file that was named cannot be analysed; empty where it can."""
    try:
        text = read(path)
        if path.endswith(NOTEBOOK):
            notebook(text)
        load(Path(path))
    except SourceError as error:
        return f"{path}: cannot be read: {error}"
    except ConfigError as error:
        return str(error)
    return ""


def _pasted() -> str:
    if sys.stdin is None:
        return ""
    if sys.stdin.isatty():
        tell("note", "paste the traceback, then end it with Ctrl-D (on Windows Ctrl-Z and Enter)")
    return sys.stdin.buffer.read().decode(errors="replace")


def _analyser() -> Callable[[str], Report | None]:
    """The analysis of a file under its configuration; what is wrong with a file is said."""
    resolver = Resolver([os.curdir])

    @cache
    def analyse(path: str) -> Report | None:
        path = shown(path, os.getcwd())
        try:
            config, text = load(Path(path)), read(path)
            program = notebook(text) if path.endswith(NOTEBOOK) else text
        except (ConfigError, SourceError) as error:
            tell("warning", f"{path}: {error}" if isinstance(error, SourceError) else str(error))
            return None
        config_of = partial(checked_as, resolver=resolver, main=path, given=Given())
        return analysis.analyse(program, path, config, resolve=resolver, config_of=config_of)

    return analyse


def _explain_line(path: str, line: int, analyse: Callable[[str], Report | None], look: Look) -> int:
    report = analyse(path)
    if report is None:
        return 2
    count = len(report.source.lines)
    if not 1 <= line <= count:
        tell("error", f"{path}: there is no line {line}; the last is {count}")
        return 2
    matches = at_line(report, line)
    _write(findings(matches, look) if matches else [f"Nothing is found at {path}:{line}.", *seen(report, line)])
    return 0


def _write(lines: Iterable[str]) -> None:
    with writing():
        for line in lines:
            print(line)
        sys.stdout.flush()
