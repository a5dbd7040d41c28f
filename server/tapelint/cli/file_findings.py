"""The findings of one file: fixed where that is wanted, and each in the format of the run."""

from __future__ import annotations

from typing import Any

from .. import analysis
from ..analysis import Report
from ..analysis.blocks import shown_in_cells, texts_of
from ..analysis.fix_all import repair
from ..fault import fault_of
from ..report import Diagnostic, Notice, Offer
from ..report.as_sarif import as_result
from ..report.block import Block
from ..report.in_cells import in_cells, in_file
from ..report.notice import internal
from ..source import SourceError
from ..source.notebook_writing import with_code
from ..source.writing import rewrite
from .file_coverage import log_ends
from .file_notices import add_notice, rendered
from .streams import is_logged
from .task import FileResult, Found, Task

_OFFERING = frozenset(("full", "concise", "json", "json-lines", "sarif", "rdjson", "grouped"))
"""Formats that say how a finding can be fixed. To verify fixes takes longer than all else."""


def add_findings(task: Task, report: Report, result: FileResult) -> None:
    """Fix the file where the task says so, and add what is then reported to ``result``."""
    if task.fix != "no" and report.diagnostics:
        report = _repaired(task, report, result)
    if is_logged("debug") and not task.focus:
        log_ends(report)
    faults: list[Notice] = []
    trials = analysis.trials()
    for diagnostic in (*report.diagnostics, *report.elsewhere):
        try:
            offer = Offer()
            if task.output_format in _OFFERING and not task.focus:
                offer = analysis.offer(report, diagnostic, memory=trials)
        except Exception as error:
            faults.append(internal(task.path, f"no fix for {diagnostic.code}", fault_of(error)))
        result.found.append(_found(task, report, diagnostic, offer))
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
    shown: Block | None = None
    match task.output_format:
        case "sarif":
            placed, texts = in_cells(diagnostic, source), texts_of(report)
            steps = [texts(link.filename) for link in placed.related]
            fixes = () if source.cells else offer.fixes
            text = as_result(in_file(diagnostic, source), texts(placed.filename), fixes, source.path, steps)
            offers = {key: text[key] for key in ("fixes",) if key in text}
        case "full" | "concise" | "brief":
            shown = shown_in_cells(report, diagnostic, offer)
        case form:
            text = rendered(form, diagnostic, source, at, offer)
            if form in ("json", "json-lines"):
                offers = {key: text[key] for key in ("fixes", "no_fix")}
            elif form == "gitlab":
                diagnostic = in_file(diagnostic, source)  # an entry is made when all are known: they must differ
    counts = diagnostic.severity <= task.config.fail_on
    return Found(diagnostic, text, offers, row, is_own, bool(offer.fixes), counts, shown)
