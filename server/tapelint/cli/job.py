"""One file, from its name to the text that is printed about it; the unit of work that other processes can take over.

What comes in and what goes out are small and can be pickled: a tree of a file never travels.
"""

from __future__ import annotations

import os
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from ..source import SourceError, concerns_torch, read
from ..workspace import Config, Resolver

if TYPE_CHECKING:
    from ..analysis import Report
    from ..report import Diagnostic, Fix


@dataclass(frozen=True, slots=True)
class Task:
    """What to do with one file. ``text`` is None where it is still to be read from ``path``."""

    path: str
    config: Config
    output_format: str
    is_coloured: bool = False
    text: str | None = None


@dataclass(slots=True)
class Answer:
    """What there is to print: ``found`` in the wanted format, ``warnings`` and ``failures`` for stderr."""

    path: str
    found: list[Any] = field(default_factory=list)
    severities: Counter[str] = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    stats: Counter[str] = field(default_factory=Counter)


def work(task: Task) -> Answer:
    """Analyse a file. Never raises: a fault of ours is a failure of this file, not of the run."""
    answer = Answer(task.path)
    try:
        if task.path.endswith(".ipynb"):
            raise SourceError("notebooks are not analysed in this version")
        text = read(task.path) if task.text is None else task.text
        if concerns_torch(text, task.path, _resolver()):
            _analyse(task, text, answer)
    except SourceError as error:
        answer.failures.append(f"{task.path}: cannot be read: {error}")
    except Exception:
        answer.failures.append(
            f"internal error in {task.path}; this is a bug of tapelint, please report it:\n{traceback.format_exc()}"
        )
    return answer


def _analyse(task: Task, text: str, answer: Answer) -> None:
    from .. import analysis

    report = analysis.analyse(text, task.path, task.config, resolve=_resolver())
    source = report.source
    if source.is_skipped:
        answer.warnings.append(f"{task.path}: not analysed: {source.is_skipped}")
    elif source.problems:
        first, others = source.problems[0], len(source.problems) - 1
        more = f" (and {others} more)" if others else ""
        answer.warnings.append(
            f"{task.path}:{first.span.row}:{first.span.column}: {first.message}{more}; the rest of the file was checked"
        )
    answer.stats.update(report.stats)
    for diagnostic in report.diagnostics:
        answer.severities[diagnostic.severity] += 1
        try:
            fixes: tuple[Fix, ...] = ()
            if task.output_format != "concise":
                fixes = analysis.fixes(report, diagnostic)
        except Exception:
            answer.failures.append(
                f"internal error in {task.path}: no fix for {diagnostic.code}; this is a bug of tapelint,"
                f" please report it:\n{traceback.format_exc()}"
            )
        answer.found.append(_render(task, report, diagnostic, fixes))


def _render(task: Task, report: Report, diagnostic: Diagnostic, fixes: Sequence[Fix]) -> Any:
    if task.output_format == "json":
        from ..report.as_json import as_json

        return as_json(diagnostic, fixes)
    from ..report.full import concise, full
    from ..report.paint import ansi, plain

    if task.output_format == "concise":
        return concise(diagnostic)

    def lines(filename: str) -> Sequence[str]:
        source = report.source if filename == task.path else report.others.get(filename)
        return source.lines if source else ()

    return full(diagnostic, report.source.text, lines, fixes, ansi if task.is_coloured else plain)


@cache
def _resolver() -> Resolver:
    """One for all files of this process, so that a module that many of them import is read once."""
    return Resolver([os.curdir])
