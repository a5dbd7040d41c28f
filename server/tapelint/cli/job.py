"""One file, from its name to the text that is printed about it; the unit of work that other processes can take over.

What comes in and what goes out are small and can be pickled: a tree of a file never travels.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from ..fault import fault_of
from ..report.in_cells import fixes_in_cell, in_cells, in_file, place_in_cells, rows_in_cells
from ..report.notice import Kind, Notice, internal
from ..severity import Severity
from ..source import NOTEBOOK, Notebook, Source, SourceError, concerns_torch, notebook, parse, read
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
class FileResult:
    """What there is to print: ``found`` in the wanted format, ``warnings`` and ``failures`` for stderr; how many fixes
    were made, the text before and after them. ``notices`` say what was not seen: at a terminal they are counted, in
    formats for programs they are among ``found``, or ``notifications`` where the format tells them apart. One of them
    ``counts`` as something found, such as a syntax error.
    """

    path: str
    found: list[Any] = field(default_factory=list)
    severities: Counter[Severity] = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    stats: Counter[str] = field(default_factory=Counter)
    notices: list[Notice] = field(default_factory=list)
    notifications: list[Any] = field(default_factory=list)
    counts: bool = False
    fixes: int = 0
    before: str = ""
    after: str = ""


def work(task: Task) -> FileResult:
    """Analyse a file. Never raises: a fault of ours is a failure of this file, not of the run."""
    answer = FileResult(task.path)
    try:
        text = read(task.path) if task.text is None else task.text
        answer.before = answer.after = text if task.fix != "no" else ""
        book = notebook(text) if task.path.endswith(NOTEBOOK) else None
        if concerns_torch(book.text if book else text, task.path, _resolver()):
            _analyse(task, book or text, answer)
    except SourceError as error:
        _tell(task, answer, Notice(Kind.NOT_READ, task.path, f"cannot be read: {error}"))
    except Exception as error:
        _tell(task, answer, internal(task.path, "it was not checked", fault_of(error)))
    return answer


def unseen(task: Task, notice: Notice) -> FileResult:
    """The answer about a file that could not be looked at."""
    answer = FileResult(task.path)
    _tell(task, answer, notice)
    return answer


def _analyse(task: Task, text: str | Notebook, answer: FileResult) -> None:
    from .. import analysis

    report = analysis.analyse(text, task.path, task.config, resolve=_resolver(), is_imported=_resolver().is_imported)
    answer.stats.update(report.stats)
    if task.fix != "no" and report.diagnostics:
        report = _repaired(task, report, answer)
    alike: Counter[str] = Counter()
    faults: list[Notice] = []
    for diagnostic in report.diagnostics:
        answer.severities[diagnostic.severity] += 1
        try:
            fixes: tuple[Fix, ...] = ()
            if task.output_format in ("full", "json", "sarif"):
                fixes = analysis.fixes(report, diagnostic)
        except Exception as error:
            faults.append(internal(task.path, f"no fix for {diagnostic.code}", fault_of(error)))
        answer.found.append(_render(task, report, diagnostic, fixes, alike))
    for notice in (*report.notices, *faults):
        _tell(task, answer, notice, report.source)


def _repaired(task: Task, report: Report, answer: FileResult) -> Report:
    """The report on the file as it is after its fixes; the one before where they cannot be written."""
    if report.source.cells:
        answer.warnings.append(f"{task.path}: fixes are applied to files of Python only, not in notebooks")
        return report
    from ..analysis.fix_all import repair

    try:
        repaired = repair(report, task.fix == "unsafe")
    except Exception as error:
        _tell(task, answer, internal(task.path, "nothing was fixed", fault_of(error)))
        return report
    after = repaired.report.source.text
    if task.writes and repaired.fixes:
        try:
            rewrite(task.path, answer.before, after)
        except SourceError as error:
            answer.failures.append(f"{task.path}: not fixed: {error}")
            return report
    answer.fixes, answer.after = repaired.fixes, after
    return repaired.report


def _tell(task: Task, answer: FileResult, notice: Notice, source: Source | None = None) -> None:
    """Say what was not seen: where it is a failure on stderr in any case, for programs only if its code is wanted."""
    source = source or parse("", task.path)
    answer.notices.append(notice)
    diagnostic = notice.diagnostic
    if notice.kind.is_failure:
        answer.failures.append(notice.failure)
    elif not notice.is_common:
        name, span = place_in_cells(source, notice.span)
        answer.warnings.append(f"{name}:{span.row}:{span.column}: {notice.message}")
    severity = task.config.grade(diagnostic.code, diagnostic.severity, task.path)
    if severity is None:
        return
    answer.counts |= severity is not Severity.HINT
    diagnostic = replace(diagnostic, severity=severity)
    if task.output_format == "sarif":
        from ..report.as_sarif import as_notification

        answer.notifications.append(as_notification(in_file(diagnostic, source), notice))
    elif task.output_format != "full" and (task.output_format != "concise" or notice.is_common):
        answer.found.append(_render_notice(task, source, diagnostic))


def _render_notice(task: Task, source: Source, diagnostic: Diagnostic) -> Any:
    if task.output_format == "json":
        from ..report.as_json import as_json

        return as_json(diagnostic, (), source.cells)
    if task.output_format == "concise":
        from ..report.full import concise

        return concise(in_cells(diagnostic, source))
    from ..report import for_ci

    placed = in_file(diagnostic, source)
    return for_ci.github(placed) if task.output_format == "github" else for_ci.gitlab_notice(placed)


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
