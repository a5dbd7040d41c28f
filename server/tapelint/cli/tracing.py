"""``tapelint trace``: what the engine did, statement by statement."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ..analysis.execution import Inputs
from ..source import NOTEBOOK, Source, SourceError, notebook, parse, read
from ..trace import trace
from ..workspace import ConfigError, Resolver, load
from .streams import tell, writing

_WITH_LINE = re.compile(r"(?P<path>.+?):(?P<line>\d+)(:\d+)?$", re.DOTALL)


def run(target: str) -> int:
    """Print the trace of ``FILE`` or ``FILE:LINE``; the exit status."""
    path, line = split_target(target)
    try:
        source = _source(path, line)
        config = load(Path(path))
    except SourceError as error:
        tell("error", f"{path}: {error}")
        return 2
    except ConfigError as error:
        tell("error", str(error))
        return 2
    for text in trace(source, Inputs(config, Resolver()), line):
        with writing():
            print(text)
    return 0


def split_target(target: str) -> tuple[str, int | None]:
    """The path and the line; a column, as findings are printed with one, says no more. A file whose name ends like one
    with a line is taken whole.
    """
    found = None if os.path.lexists(target) else _WITH_LINE.match(target)
    return (target, None) if found is None else (found["path"], int(found["line"]))


def _source(path: str, line: int | None) -> Source:
    """The parsed file. Raises SourceError where it is not Python, or has no such line."""
    try:
        text = read(path)
        book = notebook(text) if path.endswith(NOTEBOOK) else None
    except SourceError as error:
        raise SourceError(f"cannot be read: {error}") from error
    source = parse(text, path) if book is None else parse(book.text, path, book.cells)
    if source.is_skipped:
        raise SourceError(f"cannot be traced: {source.is_skipped}")
    if source.problems:
        problem = source.problems[0]
        raise SourceError(f"cannot be traced: line {problem.span.row}: {problem.message}")
    count = len(source.text.splitlines())
    if line is not None and not 1 <= line <= count:
        raise SourceError(f"there is no line {line}; the last is {count}")
    return source
