"""All findings of one rule at once: in the lightbulb of a file or notebook, and as a command."""

from __future__ import annotations

from typing import Any

from tests.shared_programs import UNSET

from tapelint.source import Edit, Span, apply
from wire import Wire

ONE = "def {}():\n    x = torch.ones(3, requires_grad=True)\n    y = x.exp()\n    y += 1\n    y.sum().backward()\n\n\n"
LEAF = "def leaf():\n    w = torch.ones(3, requires_grad=True)\n    w *= 2\n"
# Two findings of TL201, and one of TL203 that has a safe fix as well.
SEVERAL = "import torch\n\n\n" + ONE.format("one") + ONE.format("two") + LEAF
LINES = (6, 13)
ONLY_THEM = SEVERAL.replace("y += 1", "y = y + 1")
TITLE = "Fix all TL201 in this file"

ACTIONS = {
    "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "source"]}},
    "dataSupport": True,
    "resolveSupport": {"properties": ["edit"]},
}
LAZY = {
    "textDocument": {"publishDiagnostics": {}, "codeAction": ACTIONS},
    "workspace": {"workspaceEdit": {"documentChanges": True}, "applyEdit": True},
    "notebookDocument": {"synchronization": {}},
}
EAGER = {**LAZY, "textDocument": {"publishDiagnostics": {}, "codeAction": {**ACTIONS, "resolveSupport": None}}}
URI = "untitled:several"
BOOK = "file:///project/a.ipynb"
CELL = "vscode-notebook-cell:/project/a.ipynb#{}"


def offered(wire: Wire, uri: str, line: int, column: int = 4) -> dict[str, dict]:
    place = {"line": line, "character": column}
    params = {"textDocument": {"uri": uri}, "range": {"start": place, "end": place}}
    params["context"] = {"diagnostics": [], "triggerKind": 1}
    return {action["title"]: action for action in wire.request("textDocument/codeAction", params)["result"]}


def edits(edit: dict) -> dict[str, list[Edit]]:
    found: dict[str, list[Edit]] = {}
    for document in edit["documentChanges"]:
        for each in document["edits"]:
            start, end = each["range"]["start"], each["range"]["end"]
            span = Span(start["line"] + 1, start["character"] + 1, end["line"] + 1, end["character"] + 1)
            found.setdefault(document["textDocument"]["uri"], []).append(Edit(span, each["newText"]))
    return found


def commanded(wire: Wire, *arguments: str, applied: bool = True) -> tuple[dict | None, Any]:
    """What the server has the client apply, and the answer of the command."""
    wire.answers = False
    number = wire.ask("workspace/executeCommand", {"command": "tapelint.fixAll", "arguments": [*arguments]})
    asked = None
    while True:
        message = wire.until(lambda message: "id" in message)
        if message.get("method") == "workspace/applyEdit":
            asked = message["params"]
            wire.send(id=message["id"], result={"applied": applied})
        elif message["id"] == number and "method" not in message:
            return asked, message.get("result", message.get("error"))


def test_the_findings_of_one_rule_are_fixed_and_no_others(wire: Wire) -> None:
    wire.start(LAZY)
    wire.open(URI, SEVERAL)
    for line in LINES:
        action = offered(wire, URI, line)[TITLE]
        assert action["kind"] == "quickfix" and "edit" not in action and "isPreferred" not in action
        assert [diagnostic["range"]["start"]["line"] for diagnostic in action["diagnostics"]] == [line]
    resolved = wire.request("codeAction/resolve", action)["result"]
    assert apply(SEVERAL, edits(resolved["edit"])[URI]) == ONLY_THEM


def test_one_finding_of_a_rule_is_not_all(wire: Wire) -> None:
    wire.start(LAZY)
    wire.open(URI, SEVERAL)
    titles = offered(wire, URI, 19)
    assert any("TL203" in title for title in titles)
    assert not any(title.startswith("Fix all") for title in titles)


def test_findings_without_a_safe_fix_do_not_count(wire: Wire) -> None:
    text = UNSET + UNSET.replace("Scale", "Other")
    wire.start(LAZY)
    wire.open(URI, text)
    found = wire.published(URI)
    assert len(found) == 2 and len({each["code"] for each in found}) == 1
    titles = offered(wire, URI, *found[0]["range"]["start"].values())
    assert any(found[0]["code"] in title for title in titles)
    assert not any(title.startswith("Fix all") for title in titles)


def test_newer_text_refuses_them(wire: Wire) -> None:
    wire.start(LAZY)
    wire.open(URI, SEVERAL)
    action = offered(wire, URI, LINES[0])[TITLE]
    wire.change(URI, 2, {"text": "# new\n" + SEVERAL})
    assert wire.request("codeAction/resolve", action)["error"]["code"] == -32801


def test_in_a_notebook(wire: Wire) -> None:
    wire.start(LAZY)
    cells = ["import torch", ONE.format("one"), ONE.format("two"), LEAF]
    listed = [{"kind": 2, "document": CELL.format(number)} for number in range(4)]
    texts = [
        {"uri": CELL.format(number), "languageId": "python", "version": 1, "text": text}
        for number, text in enumerate(cells)
    ]
    book = {"uri": BOOK, "notebookType": "jupyter-notebook", "version": 1, "cells": listed}
    wire.notify("notebookDocument/didOpen", {"notebookDocument": book, "cellTextDocuments": texts})
    action = offered(wire, CELL.format(1), 3)["Fix all TL201 in this notebook"]
    made = edits(wire.request("codeAction/resolve", action)["result"]["edit"])
    assert [*made] == [CELL.format(1), CELL.format(2)]
    for uri, text in zip(made, cells[1:3]):
        assert apply(text, made[uri]) == text.replace("y += 1", "y = y + 1")
    asked, answer = commanded(wire, CELL.format(2), "TL203")
    assert asked is not None and answer == {"fixes": 1, "applied": True}
    assert [*edits(asked["edit"])] == [CELL.format(3)]


def test_a_client_that_takes_edits_at_once_is_given_the_command(wire: Wire) -> None:
    wire.start(EAGER)
    wire.open(URI, SEVERAL)
    action = offered(wire, URI, LINES[0])[TITLE]
    assert "edit" not in action
    assert action["command"]["command"] == "tapelint.fixAll" and action["command"]["arguments"] == [URI, "TL201"]
    asked, answer = commanded(wire, *action["command"]["arguments"])
    assert asked is not None and asked["label"] == "Fix all TL201" and answer == {"fixes": 2, "applied": True}
    (document,) = asked["edit"]["documentChanges"]
    assert document["textDocument"] == {"uri": URI, "version": 1}
    assert apply(SEVERAL, edits(asked["edit"])[URI]) == ONLY_THEM


def test_the_command_fixes_a_whole_file(wire: Wire) -> None:
    wire.start(EAGER)
    wire.open(URI, SEVERAL)
    asked, answer = commanded(wire, URI, applied=False)
    assert asked is not None and answer == {"fixes": 3, "applied": False}
    expected = ONLY_THEM.replace("    w *= 2\n", "    with torch.no_grad():\n        w *= 2\n")
    assert apply(SEVERAL, edits(asked["edit"])[URI]) == expected


def test_the_command_says_that_there_is_nothing_to_fix(wire: Wire) -> None:
    wire.start(EAGER)
    wire.open(URI, SEVERAL)
    for arguments in ((URI, "TL405"), ("untitled:closed",), ()):
        wire.seen.clear()
        asked, answer = commanded(wire, *arguments)
        assert asked is None and answer == {"fixes": 0, "applied": False}
        (said,) = [each["params"]["message"] for each in wire.seen if each.get("method") == "window/showMessage"]
        assert "safe fix" in said
