"""Open documents as the editor has them, and files on disk as Python would decode them.

pygls' own text document cuts lines with ``str.splitlines``, reads files as UTF-8 only and raises when they are gone.
This one follows the protocol's line rule, PEP 263 for files, and treats what cannot be read as empty.

Notebooks in the editor: each cell is a document of the client's, all of them together are one program of ours.

What is found is pushed to the cells, also to a client that pulls: clients do not ask for the cells of a notebook when
another of its cells has changed.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote
from zlib import crc32

from lsprotocol import types
from pygls.uris import to_fs_path
from pygls.workspace import TextDocument, Workspace

from ..frozen import frozen
from ..source import Cell, SourceError, Span, cell_at, joined, read
from .convert.positions import LineIndex

if TYPE_CHECKING:
    from .server import Server

logger = logging.getLogger(__name__)

_openings = count()


@frozen
class CellDocument:
    """A code cell as the client knows it, and where it stands in the notebook's program; nowhere if it is empty."""

    uri: str
    version: int | None
    cell: Cell | None


@frozen
class Snapshot:
    """A document, or a notebook with its cells, at one version, safe to hand to another thread."""

    uri: str
    path: str
    version: int | None
    text: str
    documents: tuple[CellDocument, ...] = ()

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells of a notebook that are a part of its program."""
        return tuple(document.cell for document in self.documents if document.cell is not None)

    def cell_of(self, span: Span) -> tuple[str, int]:
        """The document that a span of the text is in for the client, and how many rows of the text stand above it."""
        cell = cell_at(self.cells, span.row)
        if cell is None:
            return self.uri, 0
        return next(document.uri for document in self.documents if document.cell == cell), cell.first - 1

    def row_offset(self, uri: str) -> int | None:
        """How many rows of the text stand above a document of the client's; None if that is no part of it."""
        if unquote(uri) == unquote(self.uri):
            return 0
        found = (document.cell for document in self.documents if unquote(document.uri) == unquote(uri))
        cell = next(found, None)
        return cell.first - 1 if cell is not None else None

    def has_cell(self, uri: str) -> bool:
        """Whether the client's document is a code cell of this notebook, if an empty one."""
        return any(unquote(document.uri) == unquote(uri) for document in self.documents)

    @property
    def file(self) -> str | None:
        """Where the document is on disk; None for one that was never saved or lives elsewhere."""
        return None if self.path == self.uri else self.path


class Document(TextDocument):
    """An open document, edited row by row. ``opening`` differs where it was closed and opened again meanwhile, which
    may give another text the same version.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.opening = next(_openings)
        self._rows: LineIndex | None = None if self._source is None else LineIndex(self._source)

    @property
    def encoding(self) -> str:
        return str(getattr(self.position_codec.encoding, "value", self.position_codec.encoding))

    @property
    def rows(self) -> LineIndex:
        return self._rows if self._rows is not None else LineIndex(_on_disk(self.path))

    @property
    def source(self) -> str:
        return self.rows.text

    @property
    def lines(self) -> Sequence[str]:
        return self.rows.with_endings()

    def apply_change(self, change: types.TextDocumentContentChangeEvent) -> None:
        if isinstance(change, types.TextDocumentContentChangePartial) and self._rows is not None:
            self._rows.replace(self._rows.span(change.range, self.encoding), change.text)
        else:
            self._rows = LineIndex(change.text)

    def snapshot(self) -> Snapshot:
        return Snapshot(self.uri, to_fs_path(self.uri) or self.uri, self.version, self.source)


def _on_disk(path: str | None) -> str:
    try:
        return read(path) if path else ""
    except SourceError as error:
        logger.warning("cannot read %s: %s", path, error)
        return ""


class Documents(Workspace):
    """pygls' workspace, making our documents, and saying which are open without touching the disk."""

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> Document:
        return Document(
            doc_uri,
            source=source,
            version=version,
            language_id=language_id,
            sync_kind=self._sync_kind,
            position_codec=self._position_codec,
        )

    def opened(self, uri: str) -> Document | None:
        """The open document ``uri``; an editor may quote it differently from one message to the next."""
        found = self.text_documents.get(unquote(uri))
        return found if isinstance(found, Document) else None

    def remove_folder(self, folder_uri: str) -> None:
        self.folders.pop(unquote(folder_uri), None)


SYNC = types.NotebookDocumentSyncOptions(
    [
        types.NotebookDocumentFilterWithNotebook(
            notebook="jupyter-notebook", cells=[types.NotebookCellLanguage("python")]
        ),
        types.NotebookDocumentFilterWithNotebook(notebook="interactive", cells=[types.NotebookCellLanguage("python")]),
    ]
)


class NotebookDocument:
    """An open notebook, made of the cells that are open with it."""

    def __init__(self, uri: str, documents: Documents) -> None:
        self.uri, self._documents = uri, documents

    @property
    def version(self) -> int | None:
        """What differs between any two texts. The notebook's own version does not: VS Code sends an edit of a cell with
        the one from before, and a new one where only an output or metadata has changed.
        """
        known = self._documents.get_notebook_document(notebook_uri=self.uri)
        if known is None:
            return None
        opened = [(cell.kind, self._documents.opened(cell.document)) for cell in known.cells]
        cells = [(kind.value, cell.uri, cell.opening, cell.version) for kind, cell in opened if cell is not None]
        return crc32(repr(cells).encode())

    def snapshot(self) -> Snapshot:
        """The program, with the cell documents that it is made of."""
        known = self._documents.get_notebook_document(notebook_uri=self.uri)
        documents = {}
        for number, cell in enumerate(known.cells if known else (), 1):
            document = self._documents.opened(cell.document)
            if cell.kind == types.NotebookCellKind.Code and document is not None:
                if document.language_id in (None, "python"):
                    documents[number] = document
        program = joined((number, document.source) for number, document in documents.items())
        places = {cell.number: cell for cell in program.cells}
        cells = tuple(
            CellDocument(document.uri, document.version, places.get(number)) for number, document in documents.items()
        )
        return Snapshot(self.uri, to_fs_path(self.uri) or self.uri, self.version, program.text, cells)


def did_open(ls: Server, params: types.DidOpenNotebookDocumentParams) -> None:
    ls.session.opened(NotebookDocument(params.notebook_document.uri, ls.workspace))


def did_change(ls: Server, params: types.DidChangeNotebookDocumentParams) -> None:
    structure = params.change.cells.structure if params.change.cells else None
    for gone in structure.did_close or () if structure else ():
        ls.show(gone.uri, None, [])
    ls.session.changed(NotebookDocument(params.notebook_document.uri, ls.workspace))


def did_close(ls: Server, params: types.DidCloseNotebookDocumentParams) -> None:
    for gone in params.cell_text_documents:
        ls.show(gone.uri, None, [])
    ls.session.closed(params.notebook_document.uri)
