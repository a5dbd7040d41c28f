"""Reviewdog's format: https://github.com/reviewdog/reviewdog/tree/master/proto/rdf

{"source": {"name"}, "severity", "diagnostics": [{"message", "location": {"path", "range"}, "severity", "code",
                                                  "suggestions": [{"range", "text"}]}]}

Columns count bytes of UTF-8 from 1, as reviewdog does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import __url__
from ..severity import Severity
from ..source import Span
from .diagnostic import NO_OFFER, Diagnostic, Offer

_SEVERITIES = {
    Severity.ERROR: "ERROR",
    Severity.WARNING: "WARNING",
    Severity.INFORMATION: "INFO",
    Severity.HINT: "INFO",
}


def as_rdjson(diagnostics: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The document of a run."""
    source = {"name": "tapelint", "url": __url__} if __url__ else {"name": "tapelint"}
    return {"source": source, "severity": "WARNING", "diagnostics": list(diagnostics)}


def as_entry(diagnostic: Diagnostic, rows: Sequence[str] = (), offer: Offer = NO_OFFER) -> dict[str, Any]:
    """One finding; ``rows`` are those of its file. It suggests the edits of the best fix, where all are in that file:
    who accepts a suggestion chooses it, so it need not be safe.
    """
    entry: dict[str, Any] = {
        "message": "\n".join(diagnostic.lines),
        "location": {"path": diagnostic.filename, "range": _range(diagnostic.span, rows)},
        "severity": _SEVERITIES[diagnostic.severity],
        "code": {"value": diagnostic.code, "url": diagnostic.url} if diagnostic.url else {"value": diagnostic.code},
    }
    best = next((fix for fix in offer.fixes if fix.preferred), None)
    if best and not best.others:
        edits = [{"range": _range(edit.span, rows), "text": edit.content} for edit in best.edits]
        entry["suggestions"] = edits
    return entry


def _range(span: Span, rows: Sequence[str]) -> dict[str, dict[str, int]]:
    return {
        "start": {"line": span.row, "column": _bytes(rows, span.row, span.column)},
        "end": {"line": span.end_row, "column": _bytes(rows, span.end_row, span.end_column)},
    }


def _bytes(rows: Sequence[str], row: int, column: int) -> int:
    before = rows[row - 1][: column - 1] if row <= len(rows) else ""
    return column + len(before.encode("utf-8", "replace")) - len(before)
