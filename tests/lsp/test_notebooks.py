"""Notebooks in the editor: the cells are one program, what is found lands in its cell."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from open_notebook import BOOK, CELLS, PUSHED, cell, open_book
from tapelint.source import Cell, Edit, Span, in_cell
from wire import Wire

SLOW_SERVER = [sys.executable, str(Path(__file__).with_name("slow_server.py"))]
ACTIONS = {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "source"]}}}
LIT = {
    **PUSHED,
    "textDocument": {**PUSHED["textDocument"], "codeAction": ACTIONS},
    "workspace": {"workspaceEdit": {"documentChanges": True}},
}
PULLED = {**PUSHED, "textDocument": {**PUSHED["textDocument"], "diagnostic": {}}}


def actions(wire: Wire, number: int, line: int, character: int = 0) -> dict[str, dict]:
    """What the lightbulb offers on a line of a cell, by title."""
    place = {"line": line, "character": character}
    params = {"textDocument": {"uri": cell(number)}, "range": {"start": place, "end": place}}
    params["context"] = {"diagnostics": [], "triggerKind": 1}
    return {action["title"]: action for action in wire.request("textDocument/codeAction", params)["result"]}


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


@pytest.mark.parametrize("version", [1, 2], ids=["as VS Code sends it", "with the notebook's version counted"])
def test_editing_a_cell(wire: Wire, version: int):
    wire.start(PUSHED)
    open_book(wire)
    assert wire.published(cell(1))
    text = {"document": {"uri": cell(1), "version": 2}, "changes": [{"text": CELLS[1].replace("y += 1", "y = y + 1")}]}
    change(wire, version, textContent=[text])
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


def test_fixes_edit_their_cell(wire: Wire):
    wire.start(LIT)
    open_book(wire)
    assert wire.published(cell(1))
    found = actions(wire, 1, 1)
    fixes = [action for title, action in found.items() if "Ignore" not in title]
    assert fixes
    for fix in fixes:
        (document,) = fix["edit"]["documentChanges"]
        assert document["textDocument"] == {"uri": cell(1), "version": 1}
        assert all(edit["range"]["end"]["line"] < 2 for edit in document["edits"])
    (document,) = found["Ignore TL201 on this line"]["edit"]["documentChanges"]
    assert document["edits"][0]["newText"] == "  # tapelint: ignore[TL201]"
    assert document["edits"][0]["range"]["start"] == {"line": 1, "character": 6}
    (document,) = found["Ignore TL201 in this notebook"]["edit"]["documentChanges"]
    assert document["textDocument"]["uri"] == cell(0)
    assert document["edits"][0]["newText"] == "# tapelint: ignore-file[TL201]\n"
    assert document["edits"][0]["range"]["end"] == {"line": 0, "character": 0}
    assert not actions(wire, 0, 1), "nothing is wrong there"
    raising = actions(wire, 3, 0)
    assert [*raising] == [*found], "where PyTorch raises the same is offered"
    assert raising["Ignore TL201 on this line"]["edit"] == found["Ignore TL201 on this line"]["edit"]


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (Edit(Span(2, 3, 2, 4), "z"), Edit(Span(2, 3, 2, 4), "z")),
        (Edit(Span(3, 1, 3, 1), "z = 1\n"), Edit(Span(3, 1, 3, 1), "z = 1\n")),
        (Edit(Span(3, 1, 3, 1), "    z = 1\n"), Edit(Span(2, 5, 2, 5), "\n    z = 1")),
        (Edit(Span(4, 1, 4, 1), "z = 1\n"), Edit(Span(3, 6, 3, 6), "\nz = 1")),
        (Edit(Span(2, 1, 3, 1), ""), Edit(Span(1, 6, 2, 5), "")),
        (Edit(Span(2, 1, 3, 1), "z\n"), Edit(Span(2, 1, 2, 5), "z")),
        (Edit(Span(3, 1, 4, 1), ""), Edit(Span(3, 1, 4, 1), "")),
        (Edit(Span(2, 1, 3, 3), ""), None),
        (Edit(Span(5, 1, 6, 1), ""), Edit(Span(5, 1, 8, 1), "")),
        (Edit(Span(10, 1, 11, 1), ""), Edit(Span(8, 6, 10, 6), "")),
        (Edit(Span(8, 1, 9, 1), ""), Edit(Span(8, 1, 9, 1), "")),
    ],
    ids=[
        "inside",
        "above a cell",
        "in the last block",
        "at the end",
        "the last row",
        "instead of it",
        "a whole cell",
        "over two cells",
        "above empty rows",
        "below an empty row",
        "above one inside",
    ],
)
def test_edits_map_to_cells(edit: Edit, expected: Edit | None):
    rows = ["if x:", "    ", "w = 1", "", "a = 1", "", "  ", "b = 1", "", "c = 1"]
    cells = (Cell(1, 1, 2), Cell(3, 3, 1), Cell(4, 5, 6))
    assert in_cell(edit, cells, rows) == expected


def test_cell_cannot_run_again(wire: Wire):
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


def asked_for_all(kind: str, number: int = 0) -> dict[str, object]:
    """A request for all fixes, as VS Code sends it when a notebook is saved: at its first cell."""
    place = {"line": 0, "character": 0}
    context = {"diagnostics": [], "only": [kind]}
    return {"textDocument": {"uri": cell(number)}, "range": {"start": place, "end": place}, "context": context}


def test_fix_all_of_a_notebook(wire: Wire):
    wire.start(LIT)
    open_book(wire)
    assert wire.published(cell(1))
    nothing = wire.request("textDocument/codeAction", asked_for_all("source.fixAll"))["result"]
    assert nothing == [], "that is about one file: the editor would apply it once for each cell"
    (action,) = wire.request("textDocument/codeAction", asked_for_all("notebook.source.fixAll"))["result"]
    assert action["kind"] == "notebook.source.fixAll.tapelint"
    (document,) = action["edit"]["documentChanges"]
    assert document["textDocument"] == {"uri": cell(1), "version": 1}
    (edit,) = document["edits"]
    assert edit["newText"] == "y = y + 1"
    assert edit["range"] == {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 6}}


def test_fix_all_is_offered_at_an_empty_cell(wire: Wire):
    wire.start(LIT)
    open_book(wire)
    (action,) = wire.request("textDocument/codeAction", asked_for_all("notebook.source.fixAll", 2))["result"]
    assert [each["textDocument"]["uri"] for each in action["edit"]["documentChanges"]] == [cell(1)]
    assert actions(wire, 2, 0) == {}, "no finding is there"


def test_metadata_lose_no_fixes():
    """VS Code sends metadata of cells when a notebook is saved, beside the request for all fixes."""
    slow = Wire(SLOW_SERVER)
    try:
        slow.start(LIT)
        open_book(slow, ["# slow\n" + CELLS[0], *CELLS[1:]])
        early = slow.ask("textDocument/codeAction", asked_for_all("notebook.source.fixAll"))
        time.sleep(0.3)
        change(slow, 2, data=[{"kind": 2, "document": cell(1), "metadata": {"id": "c1"}}])
        assert slow.answer(early)["result"]
        (action,) = slow.request("textDocument/codeAction", asked_for_all("notebook.source.fixAll"))["result"]
        assert action["edit"]["documentChanges"]
    finally:
        slow.close()


def test_a_cell_that_is_opened_again_is_another_text(wire: Wire):
    resolving = {"codeAction": {**ACTIONS, "dataSupport": True, "resolveSupport": {"properties": ["edit"]}}}
    wire.start({**LIT, "textDocument": resolving})
    open_book(wire)
    (action,) = wire.request("textDocument/codeAction", asked_for_all("notebook.source.fixAll"))["result"]
    array = {"start": 1, "deleteCount": 1}
    change(wire, 2, structure={"array": array, "didClose": [{"uri": cell(1)}]})
    other = {"uri": cell(1), "languageId": "python", "version": 1, "text": CELLS[1].replace("y", "yy")}
    array = {"start": 1, "deleteCount": 0, "cells": [{"kind": 2, "document": cell(1)}]}
    change(wire, 3, structure={"array": array, "didOpen": [other]})
    assert wire.request("codeAction/resolve", action)["error"]["code"] == -32801


def test_the_line_that_raises_is_marked_in_its_cell(wire: Wire):
    wire.start(PUSHED)
    open_book(wire)

    def of_cell(number: int) -> list[dict]:
        def is_of_cell(message: dict) -> bool:
            is_pushed = message.get("method") == "textDocument/publishDiagnostics"
            return is_pushed and message["params"]["uri"] == cell(number)

        return wire.until(is_of_cell)["params"]["diagnostics"]

    assert of_cell(0) == []
    (finding,) = of_cell(1)
    (mark,) = of_cell(3)
    assert mark["message"].startswith("PyTorch raises here") and mark["message"].endswith("(cell 2 line 2)")
    assert mark["range"]["start"] == {"line": 0, "character": 0}
    told = [step["message"] for step in finding["relatedInformation"]]
    assert [message.startswith("Cell 4: ") for message in told] == [False] * (len(told) - 1) + [True]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("loss = (w * w).sum()", ""),
        ("loss = (w * w).sum()\n\nprint(w)", "print(w)"),
        ("print(w)\n\nloss = (w * w).sum()", "print(w)"),
        ("print(w)\nloss = (w * w).sum()\nprint(w)", "print(w)\nprint(w)"),
    ],
)
def test_a_cell_keeps_no_empty_line_of_what_is_moved(wire: Wire, before: str, after: str):
    texts = ["import torch\nw = torch.ones(3, requires_grad=True)", before, "for i in range(3):\n    loss.backward()"]
    wire.start(LIT)
    book = {"uri": BOOK, "notebookType": "jupyter-notebook", "version": 1}
    book["cells"] = [{"kind": 2, "document": cell(i)} for i in range(len(texts))]
    documents = [{"uri": cell(i), "languageId": "python", "version": 1, "text": text} for i, text in enumerate(texts)]
    wire.notify("notebookDocument/didOpen", {"notebookDocument": book, "cellTextDocuments": documents})
    assert [found["code"] for found in wire.published(cell(2))] == ["TL103"]
    (move,) = [action for title, action in actions(wire, 2, 1, 4).items() if title.startswith("Move")]
    changed = {each["textDocument"]["uri"]: each["edits"] for each in move["edit"]["documentChanges"]}
    (removal,) = changed[cell(1)]
    start, end = removal["range"]["start"], removal["range"]["end"]
    rows = before.split("\n")
    assert end["line"] < len(rows) and end["character"] <= len(rows[end["line"]]), "a client need not clamp"
    head = "\n".join([*rows[: start["line"]], rows[start["line"]][: start["character"]]])
    tail = "\n".join([rows[end["line"]][end["character"] :], *rows[end["line"] + 1 :]])
    assert head + removal["newText"] + tail == after
