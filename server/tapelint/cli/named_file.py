"""The file, and maybe the line of it, that a command is about: ``train.py``, ``train.py:12``, ``train.py:12:5``."""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path

from .. import analysis
from ..source import NOTEBOOK, Notebook, SourceError, notebook, read
from ..workspace import Config, ConfigError, Given, Resolver, checked_as, load
from .streams import Refusal

_WITH_LINE = re.compile(r"(?P<path>.+?):(?P<line>\d+)(:\d+)?$", re.DOTALL)


def split_target(target: str) -> tuple[str, int | None]:
    """The path and the line; a column, as findings are printed with one, says no more. A file whose name ends like one
    with a line is taken whole.
    """
    found = None if os.path.lexists(target) else _WITH_LINE.match(target)
    return (target, None) if found is None else (found["path"], int(found["line"]))


def program_in(path: str) -> tuple[str | Notebook, Config]:
    """What a file holds, and its configuration. Raises Refusal."""
    try:
        text, config = read(path), load(Path(path))
        return notebook(text) if path.endswith(NOTEBOOK) else text, config
    except SourceError as error:
        raise Refusal(f"{path}: cannot be read: {error}") from error
    except ConfigError as error:
        raise Refusal(str(error)) from error


def report_on(path: str, resolver: Resolver, line: int | None = None) -> analysis.Report:
    """The analysis of a file under its configuration, which has the ``line``. Raises Refusal."""
    program, config = program_in(path)
    config_of = partial(checked_as, resolver=resolver, main=path, given=Given())
    report = analysis.analyse(program, path, config, resolve=resolver, config_of=config_of)
    check_line(path, line, len(report.source.lines))
    return report


def check_line(path: str, line: int | None, count: int) -> None:
    """Raise Refusal where a file of so many lines does not have this one."""
    if line is not None and not 1 <= line <= count:
        raise Refusal(f"{path}: there is no line {line}; the last is {count}")
