"""Edits as the client applies them: tied to the version they were made for, so that newer text refuses them.

The text of a notebook is that of its cells, one below the other; an edit of it is one of the cell that it stands in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lsprotocol import types

from ...source import Cell, Edit, Span, cell_at
from ..analysis_result import AnalysisResult
from ..client_capabilities import ClientCapabilities

UNSAFE = "unsafe"
"""The id of the annotation of edits that are to be confirmed."""


def workspace_edit(
    edits: Iterable[Edit], result: AnalysisResult, client: ClientCapabilities, confirm: str | None = None
) -> types.WorkspaceEdit | None:
    """``edits`` to the document of ``result``, or to the cells it consists of, versioned where the client can check
    it; None where an edit reaches over the end of a cell. What they do that is to be confirmed is said in ``confirm``.
    """
    asks = confirm is not None and client.asks_before_edits
    snapshot = result.snapshot
    versions = {document.uri: document.version for document in snapshot.documents} or {snapshot.uri: snapshot.version}
    changes: dict[str, list[types.TextEdit | types.AnnotatedTextEdit | types.SnippetTextEdit]] = {}
    for edit in edits:
        placed = in_cell(edit, snapshot.cells, result.rows.row) if snapshot.documents else edit
        if placed is None:
            return None
        uri, row_offset = snapshot.cell_of(placed.span)
        area = result.rows.range(placed.span, client.encoding, row_offset)
        made = types.AnnotatedTextEdit(UNSAFE, area, placed.content) if asks else types.TextEdit(area, placed.content)
        changes.setdefault(uri, []).append(made)
    if not client.has_versioned_edits:
        return types.WorkspaceEdit(changes=changes)  # type: ignore[arg-type]
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, versions[uri]), made)
            for uri, made in changes.items()
        ],
        change_annotations={UNSAFE: types.ChangeAnnotation(confirm, needs_confirmation=True)}
        if confirm is not None and asks
        else None,
    )


def in_cell(edit: Edit, cells: tuple[Cell, ...], row: Callable[[int], str]) -> Edit | None:
    """An edit of the text that stands in one cell, where it begins; None where there is none that does the same.

    Whole lines that are put where a cell begins go to the end of the one above if they continue its last block: a
    cell cannot begin indented. ``row`` gives the rows of the text.
    """
    span = edit.span
    cell = cell_at(cells, span.row)
    if cell is None:
        return None
    row_offset = cell_at(cells, span.row - 1)
    is_insertion = (span.row, span.column) == (span.end_row, span.end_column)
    if is_insertion and span.column == 1 and row_offset is not None:
        beyond = span.row > cell.last
        if beyond or row_offset != cell and edit.content[:1].isspace():
            end = len(row(row_offset.last)) + 1
            return Edit(Span(row_offset.last, end, row_offset.last, end), "\n" + edit.content.removesuffix("\n"))
    is_inside = span.end_row <= cell.last or (span.end_row, span.end_column) == (cell.last + 1, 1)
    return edit if is_inside else None
