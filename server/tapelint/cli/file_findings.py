"""The findings of one file: fixed where that is wanted, and each in the format of the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .. import analysis
from ..analysis import Report
from ..analysis.fix_all import repair
from ..coverage import explained
from ..fault import fault_of
from ..report import Diagnostic, Notice, Offer, for_ci
from ..report.as_json import as_json
from ..report.as_rdjson import as_entry
from ..report.as_sarif import as_result
from ..report.for_tools import remark
from ..report.full import concise, full, offered
from ..report.in_cells import fixes_in_cell, in_cells, in_file, rows_in_cells
from ..report.notice import internal
from ..report.style import ansi, plain
from ..source import SourceError
from ..source.notebook_writing import with_code
from ..source.writing import rewrite
from .file_notices import add_notice
from .streams import is_logged
from .support.path_ends import log_ends
from .task import FileResult, Found, Task

_OFFERING = frozenset(("full", "json", "json-lines", "sarif", "rdjson", "grouped"))
"""Formats that say how a finding can be fixed. To verify fixes takes longer than all else."""


def add_findings(task: Task, report: Report, result: FileResult) -> None:
    """Fix the file where the task says so, and add what is then reported to ``result``."""
    if task.fix != "no" and report.diagnostics:
        report = _repaired(task, report, result)
    if is_logged("debug") and not task.focus:
        log_ends(report)
    faults: list[Notice] = []
    for diagnostic in (*report.diagnostics, *report.elsewhere):
        try:
            offer = Offer()
            if task.output_format in _OFFERING and not task.focus:
                offer = analysis.offer(report, diagnostic)
        except Exception as error:
            faults.append(internal(task.path, f"no fix for {diagnostic.code}", fault_of(error)))
        result.found.append(_found(task, report, diagnostic, offer))
    if task.tells_coverage and not task.focus:
        try:
            result.coverage = explained(report).sentence
        except Exception as error:
            faults.append(internal(task.path, "what was followed is not known", fault_of(error)))
    for notice in (*report.notices, *faults):
        add_notice(task, result, notice, report.source)


def _repaired(task: Task, report: Report, result: FileResult) -> Report:
    """The report on the file after its fixes; the report before them where the fixed text cannot be written."""
    try:
        repaired = repair(report, task.fix == "unsafe")
    except Exception as error:
        add_notice(task, result, internal(task.path, "nothing was fixed", fault_of(error)))
        return report
    source = repaired.report.source
    after = with_code(result.before, source.text, source.cells) if source.cells else source.text
    if task.writes and repaired.fixes:
        try:
            rewrite(task.path, result.before, after)
        except SourceError as error:
            result.failures.append(f"{task.path}: not fixed: {error}")
            return report
    result.fixed, result.after = repaired.fixed, after
    return repaired.report


def _found(task: Task, report: Report, diagnostic: Diagnostic, offer: Offer) -> Found:
    """A finding in the format of the run."""
    source, is_own = report.source, diagnostic.filename == report.path
    at = source if is_own else report.others[diagnostic.filename]
    row = at.lines[diagnostic.span.row - 1]
    text: Any = None
    offers: Any = None
    match task.output_format:
        case "json" | "json-lines":
            text = as_json(diagnostic, offer, source.cells, source.path)
            offers = {key: text[key] for key in ("fixes", "no_fix")}
        case "sarif":
            own = rows_in_cells(source).get(in_cells(diagnostic, source).filename, at.lines)
            text = as_result(in_file(diagnostic, source), own, () if source.cells else offer.fixes, source.path)
            offers = {key: text[key] for key in ("fixes",) if key in text}
        case "rdjson":
            text = as_entry(in_file(diagnostic, source), at.lines, Offer() if source.cells else offer)
        case "junit" | "grouped" | "pylint" | "azure":
            text = remark(in_file(diagnostic, source), offer)
        case "github":
            text = for_ci.github(in_file(diagnostic, source))
        case "gitlab":
            diagnostic = in_file(diagnostic, source)  # an entry is made when all are known: they must differ
        case "concise":
            text = concise(in_cells(diagnostic, source))
        case _:
            text, offers = _full(task, report, in_cells(diagnostic, source), offer)
    return Found(diagnostic, text, offers, row, is_own, bool(offer.fixes), diagnostic.severity <= task.config.fail_on)


def _full(task: Task, report: Report, diagnostic: Diagnostic, offer: Offer) -> tuple[str, str]:
    cells = rows_in_cells(report.source)

    def lines(filename: str) -> Sequence[str]:
        if filename in cells:
            return cells[filename]
        source = report.others.get(filename)
        return source.lines if source else ()

    style = ansi if task.is_coloured else plain
    offer = replace(offer, fixes=tuple(fixes_in_cell(offer.fixes, report.source, diagnostic.filename)))
    text = report.source.text if not report.source.cells else "\n".join(lines(diagnostic.filename))
    checked = report.path if not report.source.cells else None
    offers = offered(diagnostic, text, offer, style, checked)
    return full(diagnostic, "", lines, style=style) + offers, offers
