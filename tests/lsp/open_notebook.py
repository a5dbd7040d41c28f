"""A notebook that the tests open, and the clients that do."""

from __future__ import annotations

from collections.abc import Sequence

from wire import Wire

CELLS = [
    "%matplotlib inline\nimport torch",
    "y = torch.ones(2, requires_grad=True).exp()\ny += 1",
    "",
    "y.sum().backward()",
]
PUSHED = {
    "textDocument": {"publishDiagnostics": {"relatedInformation": True}, "hover": {"contentFormat": ["plaintext"]}},
    "notebookDocument": {"synchronization": {}},
}
BOOK = "file:///project/a.ipynb"


def cell(number: int) -> str:
    return f"vscode-notebook-cell:/project/a.ipynb#{number}"


def open_book(wire: Wire, cells: Sequence[str] = CELLS) -> None:
    wire.notify(
        "notebookDocument/didOpen",
        {
            "notebookDocument": {
                "uri": BOOK,
                "notebookType": "jupyter-notebook",
                "version": 1,
                "cells": [{"kind": 2, "document": cell(i)} for i in range(len(cells))],
            },
            "cellTextDocuments": [
                {"uri": cell(i), "languageId": "python", "version": 1, "text": text} for i, text in enumerate(cells)
            ],
        },
    )
