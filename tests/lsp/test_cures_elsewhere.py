"""A quick fix that edits a file which the checked one imports, open or not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.shared_programs import KEEPING, STEPPING

from wire import Wire

CAPABILITIES = {
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True},
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}},
            "isPreferredSupport": True,
            "dataSupport": True,
            "resolveSupport": {"properties": ["edit"]},
        },
    },
    "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True, "changeAnnotationSupport": {}}},
    "window": {"showDocument": {"support": True}},
}


@pytest.fixture
def project(wire: Wire, tmp_path: Path) -> Iterator[tuple[Wire, str, str]]:
    (tmp_path / "net.py").write_text(KEEPING)
    (tmp_path / "main.py").write_text(STEPPING)
    wire.start(CAPABILITIES, workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "project"}])
    yield wire, (tmp_path / "main.py").as_uri(), (tmp_path / "net.py").as_uri()


def _actions(wire: Wire, uri: str, line: int) -> list[dict[str, Any]]:
    at = {"line": line, "character": 10}
    params = {"textDocument": {"uri": uri}, "range": {"start": at, "end": at}, "context": {"diagnostics": []}}
    found: list[dict[str, Any]] = wire.request("textDocument/codeAction", params)["result"]
    return found


def _cure(wire: Wire, uri: str, line: int) -> dict[str, Any]:
    (action,) = (each for each in _actions(wire, uri, line) if each["title"].startswith("In net.py, "))
    return action


def test_a_file_that_is_not_open_is_edited_at_once(project: tuple[Wire, str, str]) -> None:
    """With an annotation that asks to be confirmed, VS Code's "Apply" does nothing until boxes are ticked."""
    wire, main, net = project
    wire.open(main, STEPPING)
    assert [found["code"] for found in wire.published(main)] == ["TL102"]
    action = _cure(wire, main, 7)
    assert action["isPreferred"]
    edit = wire.request("codeAction/resolve", action)["result"]["edit"]
    (change,) = edit["documentChanges"]
    assert change["textDocument"] == {"uri": net, "version": None}
    (made,) = change["edits"]
    assert made["newText"] == ".detach()" and made["range"]["start"] == {"line": 11, "character": 36}
    assert "changeAnnotations" not in edit and "annotationId" not in made


def _run(wire: Wire, action: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run the command of an action: the document that it shows, and what it asks the user."""
    wire.answers = False
    wire.ask("workspace/executeCommand", {key: action["command"][key] for key in ("command", "arguments")})
    shown = wire.until(lambda message: message.get("method") == "window/showDocument")
    wire.send(id=shown["id"], result={"success": True})
    return shown["params"], wire.until(lambda message: message.get("method") == "window/showMessageRequest")


def test_the_edit_is_shown_and_can_be_undone(project: tuple[Wire, str, str]) -> None:
    wire, main, net = project
    wire.open(main, STEPPING)
    assert wire.published(main)
    action = _cure(wire, main, 7)
    edited = KEEPING.replace("self.cell(x, self.h)", "self.cell(x, self.h.detach())")
    wire.open(net, edited, 3)
    shown, asked = _run(wire, action)
    assert shown["uri"] == net and shown["takeFocus"]
    row = {"start": {"line": 11, "character": 0}, "end": {"line": 12, "character": 0}}
    assert shown["selection"] == row
    assert asked["params"]["message"] == f"Done. {action['title']}"
    assert asked["params"]["actions"] == [{"title": "Undo"}]
    wire.send(id=asked["id"], result={"title": "Undo"})
    undo = wire.until(lambda message: message.get("method") == "workspace/applyEdit")["params"]
    (change,) = undo["edit"]["documentChanges"]
    assert change["textDocument"] == {"uri": net, "version": 3}
    (made,) = change["edits"]
    assert made == {"range": row, "newText": KEEPING.splitlines(keepends=True)[11]}


def test_what_was_edited_since_is_not_undone(project: tuple[Wire, str, str]) -> None:
    wire, main, net = project
    wire.open(main, STEPPING)
    assert wire.published(main)
    action = _cure(wire, main, 7)
    wire.open(net, "# edited\n" + KEEPING, 3)
    _, asked = _run(wire, action)
    wire.send(id=asked["id"], result={"title": "Undo"})
    told = wire.until(lambda message: message.get("method") == "window/showMessage")["params"]
    assert told["message"].startswith("net.py: edited since then")


def test_what_is_not_to_be_undone_stays(project: tuple[Wire, str, str]) -> None:
    wire, main, _ = project
    wire.open(main, STEPPING)
    assert wire.published(main)
    _, asked = _run(wire, _cure(wire, main, 7))
    wire.send(id=asked["id"], result=None)
    wire.request("tapelint/ping")
    assert not any(message.get("method") == "workspace/applyEdit" for message in wire.seen)


def test_an_open_file_is_edited_as_it_is_in_the_editor(project: tuple[Wire, str, str]) -> None:
    """The rows are those of its unsaved text, and the version is the one that has them."""
    wire, main, net = project
    wire.open(net, KEEPING, 1)
    wire.change(net, 7, {"text": "# unsaved\n" + KEEPING})
    wire.open(main, STEPPING)
    assert wire.published(main)
    edit = wire.request("codeAction/resolve", _cure(wire, main, 7))["result"]["edit"]
    (change,) = edit["documentChanges"]
    assert change["textDocument"] == {"uri": net, "version": 7}
    assert change["edits"][0]["range"]["start"] == {"line": 12, "character": 36}
    assert "changeAnnotations" not in edit


def test_an_edit_is_refused_where_the_other_file_has_changed(project: tuple[Wire, str, str], tmp_path: Path) -> None:
    wire, main, _ = project
    wire.open(main, STEPPING)
    assert wire.published(main)
    action = _cure(wire, main, 7)
    (tmp_path / "net.py").write_text("# changed\n" + KEEPING)
    assert "error" in wire.request("codeAction/resolve", action)


FINISHING = "import torch\n\n\ndef finish(loss):\n    loss.backward()\n"
TWICE = """import torch
from helpers import finish

y = torch.ones(3, requires_grad=True).exp().sum()
finish(y)
finish(y)
"""


@pytest.mark.parametrize("is_open", [True, False])
def test_what_another_file_shows_here_is_cured_here(wire: Wire, tmp_path: Path, is_open: bool) -> None:
    """helpers.py has no hazard by itself; main.py shows it, be it open or only a file that uses helpers.py."""
    (tmp_path / "helpers.py").write_text(FINISHING)
    (tmp_path / "main.py").write_text(TWICE)
    wire.start(CAPABILITIES, workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "project"}])
    main, helpers = (tmp_path / "main.py").as_uri(), (tmp_path / "helpers.py").as_uri()
    wire.open(helpers, FINISHING)
    assert wire.published(helpers) == []
    if is_open:
        wire.open(main, TWICE)
    assert [found["code"] for found in wire.published(helpers)] == ["TL101"]
    first, *_ = (each for each in _actions(wire, helpers, 4) if "gnore" not in each["title"])
    assert "helpers.py" not in first["title"] and first["isPreferred"]
    edit = wire.request("codeAction/resolve", first)["result"]["edit"]
    (change,) = edit["documentChanges"]
    assert change["textDocument"] == {"uri": helpers, "version": 1}
    assert [made["newText"] for made in change["edits"]] == ["retain_graph=True"]
    assert "changeAnnotations" not in edit
