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

from ..report.in_cells import fixes_in_cell, in_cells, place_in_cells, rows_in_cells
from ..source import NOTEBOOK, Notebook, SourceError, concerns_torch, notebook, read
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
        text = read(task.path) if task.text is None else task.text
        book = notebook(text) if task.path.endswith(NOTEBOOK) else None
        if concerns_torch(book.text if book else text, task.path, _resolver()):
            _analyse(task, book or text, answer)
    except SourceError as error:
        answer.failures.append(f"{task.path}: cannot be read: {error}")
    except Exception:
        answer.failures.append(
            f"internal error in {task.path}; this is a bug of tapelint, please report it:\n{traceback.format_exc()}"
        )
    return answer


def _analyse(task: Task, text: str | Notebook, answer: Answer) -> None:
    from .. import analysis

    report = analysis.analyse(text, task.path, task.config, resolve=_resolver())
    source = report.source
    if source.is_skipped:
        answer.warnings.append(f"{task.path}: not analysed: {source.is_skipped}")
    elif source.problems:
        first, others = source.problems[0], len(source.problems) - 1
        more = f" (and {others} more)" if others else ""
        name, span = place_in_cells(source, first.span)
        answer.warnings.append(
            f"{name}:{span.row}:{span.column}: {first.message}{more}; the rest of the file was checked"
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

        return as_json(diagnostic, fixes, report.source.cells)
    from ..report.full import concise, full
    from ..report.paint import ansi, plain

    diagnostic = in_cells(diagnostic, report.source)
    if task.output_format == "concise":
        return concise(diagnostic)
    known = rows_in_cells(report.source)

    def lines(filename: str) -> Sequence[str]:
        if filename in known:
            return known[filename]
        source = report.others.get(filename)
        return source.lines if source else ()

    fixes = fixes_in_cell(fixes, report.source, diagnostic.filename)
    text = report.source.text if not report.source.cells else "\n".join(lines(diagnostic.filename))
    return full(diagnostic, text, lines, fixes, ansi if task.is_coloured else plain)


@cache
def _resolver() -> Resolver:
    """One for all files of this process, so that a module that many of them import is read once."""
    return Resolver([os.curdir])
