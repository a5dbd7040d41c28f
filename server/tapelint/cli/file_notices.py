"""What was not seen of a file, in the format of the run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..report import for_tools
from ..report.as_sarif import as_notification
from ..report.block import concise
from ..report.diagnostic import Diagnostic, Offer
from ..report.for_tools import as_entry, as_json, remark
from ..report.in_cells import in_cells, in_file, place_in_cells
from ..report.notice import Notice
from ..source import NOTEBOOK, Source, notebook, parse, read
from .task import FileResult, Task


def add_notice(task: Task, result: FileResult, notice: Notice, source: Source | None = None) -> None:
    """Add a notice to the result: a failure always goes to standard error, formats for programs list it if its code
    is selected.
    """
    source = source or parse("", task.path)
    result.notices.append(notice)
    diagnostic = notice.diagnostic
    if notice.kind.is_failure:
        result.failures.append(notice.failure)
    elif not notice.is_common:
        name, span = place_in_cells(source, notice.span)
        result.warnings.append(f"{name}:{span.row}:{span.column}: {notice.message}")
    severity = task.config.grade(diagnostic.code, diagnostic.severity, task.path)
    if severity is None:
        return
    result.counts |= severity <= task.config.fail_on
    diagnostic = replace(diagnostic, severity=severity)
    if task.output_format == "sarif":
        result.notifications.append(as_notification(in_file(diagnostic, source), notice))
    elif task.output_format != "full" and (task.output_format != "concise" or notice.is_common):
        result.listed.append(_notice(task.output_format, diagnostic, source))


def in_format(task: Task, found: FileResult) -> FileResult:
    """A result that was made for another format, its notices in that of the task. Raises SourceError where the file
    cannot be read.
    """
    text = read(task.path)
    book = notebook(text) if task.path.endswith(NOTEBOOK) else None
    source = parse(book.text, task.path, book.cells) if book else parse(text, task.path)
    result = replace(found, notices=[], listed=[], notifications=[], warnings=[], failures=[], counts=False)
    for notice in found.notices:
        add_notice(task, result, notice, source)
    return result


def rendered(form: str, diagnostic: Diagnostic, source: Source, at: Source, offer: Offer | None = None) -> Any:
    """A finding, or a notice, which has no ``offer``, in a format for programs; ``at`` is the file that it stands in,
    ``source`` the checked one.
    """
    match form:
        case "json" | "json-lines":
            return as_json(diagnostic, offer or Offer(), source.cells, source.path)
        case "rdjson":
            return as_entry(in_file(diagnostic, source), at.lines, offer if offer and not source.cells else Offer())
        case "junit" | "grouped" | "pylint" | "azure":
            return remark(in_file(diagnostic, source), offer)
        case "github":
            return for_tools.github(in_file(diagnostic, source))
    return None


def _notice(form: str, diagnostic: Diagnostic, source: Source) -> Any:
    match form:
        case "concise":
            return concise(in_cells(diagnostic, source))
        case "gitlab":
            return for_tools.gitlab_notice(in_file(diagnostic, source))
    return rendered(form, diagnostic, source, source)
