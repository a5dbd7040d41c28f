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
from typing import TYPE_CHECKING, Any, Literal

from ..report.in_cells import fixes_in_cell, in_cells, in_file, place_in_cells, rows_in_cells
from ..source import NOTEBOOK, Notebook, SourceError, concerns_torch, notebook, read
from ..source.writing import rewrite
from ..workspace import Config, Resolver

if TYPE_CHECKING:
    from ..analysis import Report
    from ..report import Diagnostic, Fix


Fixing = Literal["no", "safe", "unsafe"]


@dataclass(frozen=True, slots=True)
class Task:
    """What to do with one file. ``text`` is None where it is still to be read from ``path``; ``writes`` says whether
    the file is to hold what is left after the fixes.
    """

    path: str
    config: Config
    output_format: str
    is_coloured: bool = False
    text: str | None = None
    fix: Fixing = "no"
    writes: bool = False


@dataclass(slots=True)
class Answer:
    """What there is to print: ``found`` in the wanted format, ``warnings`` and ``failures`` for stderr; how many fixes
    were made, the text before and after them.
    """

    path: str
    found: list[Any] = field(default_factory=list)
    severities: Counter[str] = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    stats: Counter[str] = field(default_factory=Counter)
    fixes: int = 0
    before: str = ""
    after: str = ""


def work(task: Task) -> Answer:
    """Analyse a file. Never raises: a fault of ours is a failure of this file, not of the run."""
    answer = Answer(task.path)
    try:
        text = read(task.path) if task.text is None else task.text
        answer.before = answer.after = text if task.fix != "no" else ""
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
    if task.fix != "no" and report.diagnostics:
        report = _repaired(task, report, answer)
    alike: Counter[str] = Counter()
    for diagnostic in report.diagnostics:
        answer.severities[diagnostic.severity] += 1
        try:
            fixes: tuple[Fix, ...] = ()
            if task.output_format in ("full", "json", "sarif"):
                fixes = analysis.fixes(report, diagnostic)
        except Exception:
            answer.failures.append(
                f"internal error in {task.path}: no fix for {diagnostic.code}; this is a bug of tapelint,"
                f" please report it:\n{traceback.format_exc()}"
            )
        answer.found.append(_render(task, report, diagnostic, fixes, alike))


def _repaired(task: Task, report: Report, answer: Answer) -> Report:
    """The report on the file as it is after its fixes; the one before where they cannot be written."""
    if report.source.cells:
        answer.warnings.append(f"{task.path}: fixes are applied to files of Python only, not in notebooks")
        return report
    from ..repair import repair

    repaired = repair(report, task.fix == "unsafe")
    after = repaired.report.source.text
    if task.writes and repaired.fixes:
        try:
            rewrite(task.path, answer.before, after)
        except SourceError as error:
            answer.failures.append(f"{task.path}: not fixed: {error}")
            return report
    answer.fixes, answer.after = repaired.fixes, after
    return repaired.report


def _render(task: Task, report: Report, diagnostic: Diagnostic, fixes: Sequence[Fix], alike: Counter[str]) -> Any:
    if task.output_format == "json":
        from ..report.as_json import as_json

        return as_json(diagnostic, fixes, report.source.cells)
    if task.output_format == "sarif":
        from ..report.as_sarif import as_result

        return as_result(in_file(diagnostic, report.source), () if report.source.cells else fixes)
    if task.output_format in ("github", "gitlab"):
        from ..report import for_ci

        placed = in_file(diagnostic, report.source)
        if task.output_format == "github":
            return for_ci.github(placed)
        return for_ci.gitlab(placed, report.source.lines[diagnostic.span.row - 1], alike)
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
