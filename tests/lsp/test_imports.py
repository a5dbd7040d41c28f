"""A program of several files in an editor: stories lead into the others, and editing one looks at those that use it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from wire import Wire

HELPER = "import torch\n\n\ndef finish(loss):\n    loss.backward()\n"
RETAINING = HELPER.replace("backward()", "backward(retain_graph=True)")
MAIN = """import torch
from helpers import finish

y = torch.ones(3, requires_grad=True).exp().sum()
finish(y)
finish(y)
"""
CAPABILITIES = {
    "textDocument": {"publishDiagnostics": {"relatedInformation": True}, "hover": {"contentFormat": ["plaintext"]}},
    "workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}},
}


@pytest.fixture
def project(wire: Wire, tmp_path: Path) -> Iterator[tuple[Wire, str, str]]:
    (tmp_path / "helpers.py").write_text(HELPER)
    (tmp_path / "main.py").write_text(MAIN)
    wire.start(CAPABILITIES, workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "project"}])
    yield wire, (tmp_path / "main.py").as_uri(), (tmp_path / "helpers.py").as_uri()


def test_a_finding_is_pushed_to_the_file_it_stands_in(project: tuple[Wire, str, str]):
    wire, main, helpers = project
    wire.open(main, MAIN)
    assert wire.published(main) == []
    (found,) = wire.published(helpers)
    assert found["code"] == "TL101"
    assert found["range"]["start"]["line"] == 4
    last = found["relatedInformation"][-1]["location"]
    assert last == {"uri": main, "range": {"start": {"line": 5, "character": 0}, "end": {"line": 5, "character": 9}}}
    wire.change(main, 2, {"text": MAIN.replace("finish(y)\n", "", 1)})
    assert wire.published(main, 2) == []
    assert wire.published(helpers) == [], "what is gone is taken back"


def test_closing_the_importer_takes_back_what_it_has_shown(project: tuple[Wire, str, str]):
    wire, main, helpers = project
    wire.open(main, MAIN)
    assert wire.published(helpers)
    wire.notify("textDocument/didClose", {"textDocument": {"uri": main}})
    assert wire.published(helpers) == []


def test_editing_an_imported_file_updates_what_is_shown_there(project: tuple[Wire, str, str]):
    wire, main, helpers = project
    wire.open(main, MAIN)
    assert wire.published(helpers)
    wire.open(helpers, HELPER)
    assert [found["code"] for found in wire.published(helpers, 1)] == ["TL101"]
    wire.change(helpers, 2, {"text": RETAINING})
    assert wire.published(helpers, 2) == []
    wire.notify("textDocument/didClose", {"textDocument": {"uri": helpers}})
    assert wire.published(helpers) == []
    assert wire.published(helpers), "what was not saved counts no more"


def test_a_changed_file_on_disk_updates_what_is_shown_there(project: tuple[Wire, str, str], tmp_path: Path):
    wire, main, helpers = project
    wire.open(main, MAIN)
    assert wire.published(helpers)
    (tmp_path / "helpers.py").write_text(RETAINING)
    wire.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": helpers, "type": 2}]})
    assert wire.published(helpers) == []
    (tmp_path / "helpers.py").write_text(HELPER)
    wire.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": helpers, "type": 2}]})
    assert wire.published(helpers)


def test_a_file_without_importers_updates_no_other(project: tuple[Wire, str, str], tmp_path: Path):
    wire, main, _ = project
    wire.open(main, MAIN)
    assert wire.published(main) == []
    other = (tmp_path / "other.py").as_uri()
    wire.open(other, HELPER)
    assert wire.published(other) == []
    wire.change(other, 2, {"text": RETAINING})
    assert wire.published(other, 2) == []
    assert sum(m["params"]["uri"] == main for m in wire.seen if m.get("method", "").endswith("publishDiagnostics")) == 1


def test_a_pulling_client_is_asked_to_refresh(wire: Wire, tmp_path: Path):
    (tmp_path / "helpers.py").write_text(HELPER)
    main, helpers = (tmp_path / "main.py").as_uri(), (tmp_path / "helpers.py").as_uri()
    abilities = {"textDocument": {"diagnostic": {}}, "workspace": {"diagnostics": {"refreshSupport": True}}}
    provider = wire.start(abilities, workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "project"}])
    assert provider["diagnosticProvider"]["interFileDependencies"] is True
    wire.open(helpers, HELPER)
    pulled = wire.request("textDocument/diagnostic", {"textDocument": {"uri": helpers}})["result"]
    assert pulled["items"] == []
    wire.open(main, MAIN)
    wire.until(lambda message: message.get("method") == "workspace/diagnostic/refresh")
    again = {"textDocument": {"uri": helpers}, "previousResultId": pulled["resultId"]}
    (found,) = wire.request("textDocument/diagnostic", again)["result"]["items"]
    assert found["code"] == "TL101"


def test_hover_knows_values_from_the_other_file(project: tuple[Wire, str, str], tmp_path: Path):
    wire, _, _ = project
    (tmp_path / "nets.py").write_text("import torch\n\n\ndef made(x):\n    return x.exp()\n")
    user = (tmp_path / "user.py").as_uri()
    wire.open(user, "import torch\nfrom nets import made\n\nx = torch.ones(3, requires_grad=True)\ny = made(x)\n")
    params = {"textDocument": {"uri": user}, "position": {"line": 4, "character": 0}}
    said = wire.request("textDocument/hover", params)["result"]["contents"]["value"]
    assert "ExpBackward0" in said
    assert "nets.py line 5" in said


SKIPPED = """import pytest
import torch

@pytest.mark.skip
def check_sum():
    total = torch.ones(3, requires_grad=True).sum()
"""


def test_hover_knows_what_the_configuration_of_pytest_calls_a_test(wire: Wire, tmp_path: Path):
    """pytest does not run a test that is skipped; a function that is no test is run for want of a caller."""
    wire.start(CAPABILITIES, workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "project"}])
    said = {}
    for name in ("plain", "checked"):
        (tmp_path / name).mkdir()
        ini = "[pytest]\npython_files = check_*.py\npython_functions = check_*\n" if name == "checked" else "[pytest]\n"
        (tmp_path / name / "pytest.ini").write_text(ini)
        test = (tmp_path / name / "check_net.py").as_uri()
        wire.open(test, SKIPPED)
        params = {"textDocument": {"uri": test}, "position": {"line": 5, "character": 4}}
        said[name] = wire.request("textDocument/hover", params)["result"]
    assert "grad_fn=SumBackward0" in said["plain"]["contents"]["value"]
    assert said["checked"] is None
