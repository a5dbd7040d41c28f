"""How much of a file was followed: silence about the rest says nothing, and a run that finds nothing says so. With
``--log-level debug`` also where its paths ended, and why its backward passes were not followed.
"""

from __future__ import annotations

from ..analysis import Report
from ..coverage import coverage, explained
from ..fault import fault_of
from ..report.in_cells import place_in_cells
from ..report.notice import internal
from .file_notices import add_notice
from .streams import note
from .task import FileResult, Task


def add_coverage(task: Task, report: Report, result: FileResult) -> None:
    """Add to ``result`` which backward calls of a file were followed. Why the others were not is asked for where the
    run is to say it.
    """
    try:
        found = coverage(report)
        result.missed = found.missed
        is_silent = bool(found.calls) and not found.followed and not result.found and not _is_told(result)
        if not is_silent and not task.tells_coverage:
            return
        if task.tells_coverage or task.explains_silence:
            found, result.is_explained = explained(report), True
        result.coverage = found.sentence if task.tells_coverage else ""
        if is_silent and not found.followed:
            cause = found.main_cause
            at = cause.at.span if cause and cause.at and cause.at.filename == report.path else found.calls[0].span
            name, span = place_in_cells(report.source, at)
            result.unfollowed = f"{name}:{span.row}:{span.column}: {found.sentence}"
    except Exception as error:
        add_notice(task, result, internal(task.path, "what was followed is not known", fault_of(error)), report.source)


def _is_told(result: FileResult) -> bool:
    """Whether a line about the file says already that something was not seen."""
    return bool(result.warnings or result.failures)


def log_ends(report: Report) -> None:
    """Put to the log what ended paths. The file is executed once more, for the causes."""
    for found in report.diagnostics:
        if found.raises:
            at = found.raised_at or found
            note("debug", f"{at.filename}:{at.span.row}: paths end here: {found.raised} ({found.code})")
    for notice in report.notices:
        note("debug", f"{notice.filename}:{notice.span.row}: {notice.sentence}")
    for call in explained(report).calls:
        why = f": {call.cause.message}" if call.cause else ""
        note("debug", f"{report.path}:{call.span.row}: {call.code}: {call.following.value}{why}")
