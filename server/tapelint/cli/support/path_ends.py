"""What ``--log-level debug`` says of a file: where its paths ended, and why its backward passes were not followed."""

from __future__ import annotations

from ...analysis import Report
from ...coverage import explained
from ..streams import note


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
