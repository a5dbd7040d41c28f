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
    "workspace": {"workspaceEdit": {"documentChanges": True, "changeAnnotationSupport": {}}},
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


def test_a_file_that_is_not_open_is_edited_once_that_is_confirmed(project: tuple[Wire, str, str]) -> None:
    wire, main, net = project
    wire.open(main, STEPPING)
    assert [found["code"] for found in wire.published(main)] == ["TL102"]
    action = _cure(wire, main, 7)
    assert "isPreferred" not in action
    edit = wire.request("codeAction/resolve", action)["result"]["edit"]
    (change,) = edit["documentChanges"]
    assert change["textDocument"] == {"uri": net, "version": None}
    (made,) = change["edits"]
    assert made["newText"] == ".detach()" and made["range"]["start"] == {"line": 11, "character": 36}
    (asked,) = edit["changeAnnotations"].values()
    assert asked["needsConfirmation"] and "net.py" in asked["label"]


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
