"""The output for programs. One object per finding:

    code, name, severity (error | warning | information | hint), message, filename,
    location, end_location        {"row", "column"}, both from 1, columns in characters, the end exclusive
    related                       the story in order: [{"message", "filename", "location", "end_location"}]
    help, url                     text or null
    fixes                         [{"title", "applicability" (safe | unsafe), "preferred", "edits"}], the best first;
                                  edits: [{"content", "location", "end_location"}], not overlapping
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..source import Span
from .diagnostic import Diagnostic, Fix


def as_json(diagnostic: Diagnostic, fixes: Iterable[Fix] = ()) -> dict[str, Any]:
    """One finding as plain data."""
    return {
        "code": diagnostic.code,
        "name": diagnostic.name,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "filename": diagnostic.filename,
        **_where(diagnostic.span),
        "related": [
            {"message": link.message, "filename": link.filename, **_where(link.span)} for link in diagnostic.related
        ],
        "help": diagnostic.help,
        "fixes": [
            {
                "title": fix.title,
                "applicability": fix.applicability,
                "preferred": fix.preferred,
                "edits": [{"content": edit.content, **_where(edit.span)} for edit in fix.edits],
            }
            for fix in fixes
        ],
        "url": diagnostic.url,
    }


def _where(span: Span) -> dict[str, dict[str, int]]:
    return {
        "location": {"row": span.row, "column": span.column},
        "end_location": {"row": span.end_row, "column": span.end_column},
    }
