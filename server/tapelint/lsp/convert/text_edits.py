"""Edits as the client applies them: tied to the version they were made for, so that newer text refuses them.

The text of a notebook is that of its cells, one below the other; an edit of it is one of the cell that it stands in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lsprotocol import types

from ...frozen import frozen
from ...report.diagnostic import FileEdits
from ...source import Cell, Edit, Span, cell_at, in_cell
from ..analysis_result import AnalysisResult
from ..client_capabilities import ClientCapabilities
from .positions import LineIndex


@frozen
class OtherDocument:
    """Edits to a document that imports lead to; ``version`` is None for one that is not open."""

    uri: str
    version: int | None
    change: FileEdits


def workspace_edit(
    edits: Iterable[Edit],
    result: AnalysisResult,
    client: ClientCapabilities,
    others: Sequence[OtherDocument] = (),
) -> types.WorkspaceEdit | None:
    """``edits`` to the document of ``result``, or to the cells it consists of, and to ``others``, versioned where the
    client can check it; None where an edit reaches over the end of a cell. Nothing is to be confirmed: the user has
    chosen the action, whose title says what it does and where. A client that asked once more would do nothing unless
    boxes are ticked.
    """
    snapshot = result.snapshot
    placed = _placed(edits, result, client)
    if placed is None:
        return None
    versions = {document.uri: document.version for document in snapshot.documents} or {snapshot.uri: snapshot.version}
    versions |= {other.uri: other.version for other in others}
    changes: dict[str, list[types.TextEdit | types.AnnotatedTextEdit | types.SnippetTextEdit]] = {}
    for uri, area, content in (*placed, *_elsewhere(others, client)):
        changes.setdefault(uri, []).append(types.TextEdit(area, content))
    if not client.has_versioned_edits:
        return types.WorkspaceEdit(changes=changes)  # type: ignore[arg-type]
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, versions[uri]), made)
            for uri, made in changes.items()
        ]
    )


Placed = tuple[str, types.Range, str]
"""The document of an edit, what it replaces there and by what."""


def _placed(edits: Iterable[Edit], result: AnalysisResult, client: ClientCapabilities) -> list[Placed] | None:
    """Edits to the document of ``result``; None where one reaches over the end of a cell."""
    snapshot, found = result.snapshot, list[Placed]()
    lines = [result.rows.row(row) for row in range(1, len(result.rows) + 1)] if snapshot.documents else []
    for edit in edits:
        placed = in_cell(edit, snapshot.cells, lines) if snapshot.documents else edit
        if placed is None:
            return None
        uri, row_offset = snapshot.cell_of(placed.span)
        span = _within_cell(placed.span, snapshot.cells, lines)
        found.append((uri, result.rows.range(span, client.encoding, row_offset), placed.content))
    return found


def _within_cell(span: Span, cells: Sequence[Cell], lines: Sequence[str]) -> Span:
    """A span that ends where the cell does instead of at the beginning of the next: a cell has no row there."""
    cell = cell_at(cells, span.row)
    if cell is None or span.end_row <= cell.last:
        return span
    return Span(span.row, span.column, cell.last, len(lines[cell.last - 1]) + 1)


def _elsewhere(others: Iterable[OtherDocument], client: ClientCapabilities) -> Iterator[Placed]:
    """Edits to other documents."""
    for other in others:
        rows = LineIndex(other.change.text)
        for edit in other.change.edits:
            yield other.uri, rows.range(edit.span, client.encoding), edit.content
