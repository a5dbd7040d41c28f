"""Notebooks in the editor: each cell is a document of the client's, all of them together are one program of ours.

What is found is pushed to the cells, also to a client that pulls: clients do not ask for the cells of a notebook when
another of its cells has changed.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING
from zlib import crc32

from lsprotocol import types
from pygls.uris import to_fs_path

from ..source import joined
from .documents import CellDocument, Snapshot

if TYPE_CHECKING:
    from .documents import Documents
    from .server import Server

logger = logging.getLogger(__name__)

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
