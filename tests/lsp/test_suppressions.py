"""Fix all takes no comment away that silences something; who clicks on the very fix gets it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.needed import HEAD, NEEDED

from wire import Wire

CAPABILITIES = {
    "textDocument": {
        "publishDiagnostics": {},
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "source"]}},
            "isPreferredSupport": True,
        },
    },
    "workspace": {"workspaceEdit": {"documentChanges": True}},
}
FILES = {name: files for name, files in NEEDED.items() if not any(file.endswith(".ipynb") for file in files)}
UNUSED = HEAD + "b = w * 2  # tapelint: ignore[TL201]\n"


@pytest.fixture
def project(wire: Wire, tmp_path: Path) -> Iterator[tuple[Wire, Path]]:
    (tmp_path / "pyproject.toml").touch()
    wire.start(CAPABILITIES, workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "project"}])
    yield wire, tmp_path


def actions(wire: Wire, uri: str, only: list[str]) -> list[dict[str, Any]]:
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    params = {"textDocument": {"uri": uri}, "range": whole, "context": {"diagnostics": [], "only": only}}
    return wire.request("textDocument/codeAction", params)["result"] or []


def edits(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    changes = [change for action in found for change in action["edit"]["documentChanges"]]
    return [edit for change in changes for edit in change["edits"]]


@pytest.mark.parametrize("files", FILES.values(), ids=FILES.keys())
def test_needed_suppressions_stay(project: tuple[Wire, Path], files: dict[str, str]):
    wire, folder = project
    for name, text in files.items():
        (folder / name).write_text(text)
    for name, text in files.items():
        uri = (folder / name).as_uri()
        wire.open(uri, text)
        assert "TL901" not in [found["code"] for found in wire.published(uri)]
        assert edits(actions(wire, uri, ["source.fixAll.tapelint"])) == []


def test_unused_suppression_has_a_quick_fix(project: tuple[Wire, Path]):
    wire, folder = project
    uri = (folder / "a.py").as_uri()
    wire.open(uri, UNUSED)
    (found,) = wire.published(uri)
    assert found["code"] == "TL901"
    assert edits(actions(wire, uri, ["source.fixAll.tapelint"])) == []
    (removal,) = [action for action in actions(wire, uri, ["quickfix"]) if action["title"] == "Remove TL201"]
    assert "isPreferred" not in removal, "editors apply those unasked"
    (edit,) = edits([removal])
    assert edit["range"]["start"] == {"line": 3, "character": 9} and edit["newText"] == ""


def test_fix_all_removes_unused_suppressions_if_selected(project: tuple[Wire, Path]):
    wire, folder = project
    (folder / "pyproject.toml").write_text('[tool.tapelint]\nextend-select = ["TL901"]\n')
    uri = (folder / "a.py").as_uri()
    wire.open(uri, UNUSED)
    assert wire.published(uri)
    assert edits(actions(wire, uri, ["source.fixAll.tapelint"]))
