"""``tapelint trace``: what the engine did, statement by statement."""

from __future__ import annotations

import os

from ..analysis.execution import Inputs
from ..source import Source, parse
from ..trace import trace
from ..workspace import Config, Resolver
from .named_file import check_line, program_in, split_target
from .streams import Refusal, writing


def run(target: str) -> int:
    """Print the trace of ``FILE`` or ``FILE:LINE``; the exit status."""
    path, line = split_target(target)
    source, config = _parsed(path, line)
    for text in trace(source, Inputs(config, Resolver([os.curdir])), line):
        with writing():
            print(text)
    return 0


def _parsed(path: str, line: int | None) -> tuple[Source, Config]:
    """The file, which has the ``line``, and its configuration. Raises Refusal where it is not Python."""
    program, config = program_in(path)
    source = parse(program, path) if isinstance(program, str) else parse(program.text, path, program.cells)
    if source.is_skipped:
        raise Refusal(f"{path}: cannot be traced: {source.is_skipped}")
    if source.problems:
        problem = source.problems[0]
        raise Refusal(f"{path}: cannot be traced: line {problem.span.row}: {problem.message}")
    check_line(path, line, len(source.text.splitlines()))
    return source, config
