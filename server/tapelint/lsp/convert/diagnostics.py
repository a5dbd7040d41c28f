"""tapelint's diagnostics in the protocol's words; the story becomes the related information."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace

import attrs
from lsprotocol import types
from pygls.uris import from_fs_path

from ...report.diagnostic import Diagnostic, Related, place
from ...source import Cell, Source, Span, cell_at
from ..client_capabilities import ClientCapabilities
from ..documents import Snapshot
from .positions import LineIndex

SOURCE = "tapelint"
SKIPPED = "skipped"


class Translator:
    """Translates the diagnostics of one snapshot; ``others`` are the files its stories may lead through."""

    def __init__(
        self, snapshot: Snapshot, rows: LineIndex, client: ClientCapabilities, others: Mapping[str, Source]
    ) -> None:
        self._snapshot, self._client, self._others = snapshot, client, others
        self._rows = {snapshot.path: rows}

    def translate(self, diagnostic: Diagnostic, index: int | None) -> types.Diagnostic:
        """``index`` is what actions ask by; None where none is offered: nothing is open there."""
        message = "\n".join(diagnostic.lines)
        related = None
        if diagnostic.related and self._client.shows_related:
            related = [self._related(self._with_cell(step, diagnostic.span)) for step in diagnostic.related]
        elif diagnostic.related:
            message += "".join(f"\n- {self._where(step)}: {step.message}" for step in diagnostic.related)
        data = {"code": diagnostic.code, "index": index, "version": self._snapshot.version}
        return types.Diagnostic(
            range=self._place(diagnostic.span).range,
            message=message,
            severity=types.DiagnosticSeverity(diagnostic.severity),
            code=diagnostic.code,
            code_description=self._link(diagnostic),
            source=SOURCE,
            tags=[types.DiagnosticTag.Unnecessary] if diagnostic.is_unnecessary and self._client.fades else None,
            related_information=related,
            data=data if self._client.keeps_data and index is not None else None,
        )

    def mark(self, diagnostic: Diagnostic, index: int) -> types.Diagnostic | None:
        """A hint in the line of PyTorch's traceback, which leads to a finding that is reported elsewhere; or at the end
        of a range of comments that is faded.
        """
        at = diagnostic.marked
        if at is None or at.filename != self._snapshot.path or diagnostic.other_end and not self._client.fades:
            return None
        cause = Related(diagnostic.message, diagnostic.filename, diagnostic.span)
        shown = self.translate(diagnostic, index)
        begins = "PyTorch raises here. " if diagnostic.raised_at else ""
        shown.message = f"{begins}{diagnostic.message} ({self._where(cause)})"
        shown.range = self._place(at.span).range
        shown.severity = types.DiagnosticSeverity.Hint
        shown.related_information = [self._related(cause)] if self._client.shows_related else None
        return shown

    def pointer(self, diagnostic: Diagnostic) -> types.Diagnostic:
        """A hint in the line of PyTorch's traceback, which is in this document, for a finding in another file."""
        at = diagnostic.raised_at or Related("", diagnostic.filename, diagnostic.span)
        cause = Related(diagnostic.message, diagnostic.filename, diagnostic.span)
        return types.Diagnostic(
            range=self._place(at.span).range,
            message=f"PyTorch raises here. {diagnostic.message} ({self._where(cause)})",
            severity=types.DiagnosticSeverity.Hint,
            code=diagnostic.code,
            code_description=self._link(diagnostic),
            source=SOURCE,
            related_information=[self._related(cause)] if self._client.shows_related else None,
        )

    def _link(self, diagnostic: Diagnostic) -> types.CodeDescription | None:
        return types.CodeDescription(diagnostic.url) if diagnostic.url and self._client.shows_links else None

    def _where(self, step: Related) -> str:
        """Where a step is, in words: ``line 3``, ``cell 2 line 3``, ``helpers.py line 3``."""
        cell = self._cell_of(step)
        return (
            place(step, self._snapshot.path) if cell is None else f"cell {cell.number} line {cell.own(step.span).row}"
        )

    def _with_cell(self, step: Related, shown: Span) -> Related:
        """A step that says its cell, where that is another one than the finding's: editors name a notebook's file."""
        cell = self._cell_of(step)
        if cell is None or cell == cell_at(self._snapshot.cells, shown.row):
            return step
        return replace(step, message=f"Cell {cell.number}: {step.message}")

    def _cell_of(self, step: Related) -> Cell | None:
        """The cell that a step stands in; None where it is in no notebook."""
        return cell_at(self._snapshot.cells, step.span.row) if step.filename == self._snapshot.path else None

    def head(self, step: Related) -> types.Location:
        """Where a step is, in the first of its rows: a loop is shown at its head."""
        span, rows = step.span, self._rows_of(step.filename)
        if span.end_row > span.row:
            span = Span(span.row, span.column, span.row, len(rows.row(span.row)) + 1)
        return self.location(step.filename, span)

    def location(self, filename: str, span: Span) -> types.Location:
        """A place in the document, or in a file that its stories lead through."""
        if filename == self._snapshot.path:
            return self._place(span)
        uri = from_fs_path(filename) or self._snapshot.uri
        return types.Location(uri, self._rows_of(filename).range(span, self._client.encoding))

    def _place(self, span: Span) -> types.Location:
        """A place in the document itself, or in one of the cells it consists of."""
        uri, row_offset = self._snapshot.cell_of(span)
        return types.Location(uri, self._rows[self._snapshot.path].range(span, self._client.encoding, row_offset))

    def _related(self, step: Related) -> types.DiagnosticRelatedInformation:
        return types.DiagnosticRelatedInformation(self.location(step.filename, step.span), step.message)

    def _rows_of(self, path: str) -> LineIndex:
        if path not in self._rows:
            self._rows[path] = LineIndex(self._others[path].text if path in self._others else "")
        return self._rows[path]


def skipped(reason: str) -> types.Diagnostic:
    """What a file that is not analysed shows, so that silence is not taken for health."""
    start = types.Position(0, 0)
    return types.Diagnostic(
        range=types.Range(start, start),
        message=f"tapelint skipped this file: {reason}",
        severity=types.DiagnosticSeverity.Information,
        code=SKIPPED,
        source=SOURCE,
    )


def result_id(diagnostics: list[types.Diagnostic]) -> str:
    """A name for what the client sees, the same whenever it would see the same. The version does not show."""
    plain = [attrs.asdict(diagnostic) for diagnostic in diagnostics]
    for entry in plain:
        entry.pop("data", None)
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16]
