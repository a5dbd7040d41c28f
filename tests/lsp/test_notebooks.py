"""Notebooks in the editor: the cells are one program, what is found lands in its cell."""

from __future__ import annotations

import pytest

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
PULLED = {**PUSHED, "textDocument": {**PUSHED["textDocument"], "diagnostic": {}}}
BOOK = "file:///project/a.ipynb"


def cell(number: int) -> str:
    return f"vscode-notebook-cell:/project/a.ipynb#{number}"


def open_book(wire: Wire) -> None:
    wire.notify(
        "notebookDocument/didOpen",
        {
            "notebookDocument": {
                "uri": BOOK,
                "notebookType": "jupyter-notebook",
                "version": 1,
                "cells": [{"kind": 2, "document": cell(i)} for i in range(len(CELLS))],
            },
            "cellTextDocuments": [
                {"uri": cell(i), "languageId": "python", "version": 1, "text": text} for i, text in enumerate(CELLS)
            ],
        },
    )


def change(wire: Wire, version: int, **cells: object) -> None:
    book = {"uri": BOOK, "version": version}
    wire.notify("notebookDocument/didChange", {"notebookDocument": book, "change": {"cells": cells}})


@pytest.mark.parametrize("capabilities", [PUSHED, PULLED], ids=["pushed", "pulled"])
def test_a_finding_lands_in_its_cell(wire: Wire, capabilities: dict):
    wire.start(capabilities)
    open_book(wire)
    above, (found,), *below = [wire.published(cell(i)) for i in range(4)]
    assert above == [] and below == [[], []]
    assert found["code"] == "TL201"
    assert found["range"]["start"] == {"line": 1, "character": 0}
    places = [link["location"] for link in found["relatedInformation"]]
    assert [place["uri"] for place in places] == [cell(1), cell(1), cell(3)]
    assert places[2]["range"]["start"] == {"line": 0, "character": 0}


def test_editing_a_cell(wire: Wire):
    wire.start(PUSHED)
    open_book(wire)
    assert wire.published(cell(1))
    text = {"document": {"uri": cell(1), "version": 2}, "changes": [{"text": CELLS[1].replace("y += 1", "y = y + 1")}]}
    change(wire, 2, textContent=[text])
    assert wire.published(cell(1)) == []


def test_removing_a_cell(wire: Wire):
    wire.start(PUSHED)
    open_book(wire)
    assert wire.published(cell(1))
    array = {"start": 3, "deleteCount": 1}
    change(wire, 2, structure={"array": array, "didClose": [{"uri": cell(3)}]})
    assert wire.published(cell(1)) == []


def test_closing_the_notebook(wire: Wire):
    wire.start(PUSHED)
    open_book(wire)
    assert wire.published(cell(1))
    closed = [{"uri": cell(i)} for i in range(len(CELLS))]
    wire.notify("notebookDocument/didClose", {"notebookDocument": {"uri": BOOK}, "cellTextDocuments": closed})
    assert wire.published(cell(1)) == []


def test_hovering_in_a_cell(wire: Wire):
    wire.start(PUSHED)
    open_book(wire)
    assert wire.published(cell(1))
    where = {"textDocument": {"uri": cell(3)}, "position": {"line": 0, "character": 0}}
    found = wire.request("textDocument/hover", where)["result"]
    assert "y" in found["contents"]["value"]
    assert found["range"]["start"]["line"] == 0


def test_a_cell_that_is_run_again(wire: Wire):
    wire.start(PUSHED)
    open_book(wire)
    assert wire.published(cell(1)) and not wire.published(cell(3))
    text = {"document": {"uri": cell(1), "version": 2}, "changes": [{"text": CELLS[1].replace("y += 1", "")}]}
    change(wire, 2, textContent=[text])
    (found,) = wire.published(cell(3))
    assert (found["code"], found["severity"]) == ("TL108", 3)


def test_a_notebook_that_is_skipped_says_so_in_its_first_cell(wire: Wire):
    wire.start(PUSHED)
    open_book(wire)
    assert wire.published(cell(0)) == []
    text = {"document": {"uri": cell(1), "version": 2}, "changes": [{"text": "import torch\n" * 60_001}]}
    change(wire, 2, textContent=[text])
    (found,) = wire.published(cell(0))
    assert found["code"] == "skipped" and "too large" in found["message"]


def test_changes_to_a_notebook_that_is_not_open_are_ignored(wire: Wire):
    wire.start(PUSHED)
    change(wire, 2, textContent=[])
    assert wire.request("tapelint/ping")["error"]["code"] == -32601
