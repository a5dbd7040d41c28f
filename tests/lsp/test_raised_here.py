"""A finding that stands in an imported file is pointed to from the line of the document at which PyTorch raises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wire import Wire

NET = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        out = self.layer(x).exp()
        out += 1
        return out
"""
TRAIN = """import torch
from net import Net

net = Net()
loss = net(torch.ones(2, 3)).sum()
loss.backward()
"""
SHOWING = {"textDocument": {"publishDiagnostics": {"relatedInformation": True}}}


def shown(wire: Wire, uri: str, version: int) -> list[dict[str, Any]]:
    def wanted(message: dict[str, Any]) -> bool:
        params = message.get("params", {})
        is_published = message.get("method") == "textDocument/publishDiagnostics"
        return is_published and params["uri"] == uri and params.get("version") == version

    found: list[dict[str, Any]] = wire.until(wanted, 30.0)["params"]["diagnostics"]
    return found


@pytest.mark.parametrize("capabilities", [SHOWING, {}])
def test_the_raising_line_points_to_the_file_with_the_finding(
    wire: Wire, tmp_path: Path, capabilities: dict[str, Any]
) -> None:
    (tmp_path / "net.py").write_text(NET)
    (tmp_path / "train.py").write_text(TRAIN)
    wire.start(capabilities, workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "project"}])
    train, net = ((tmp_path / name).as_uri() for name in ("train.py", "net.py"))
    wire.open(train, TRAIN)
    (pointer,) = shown(wire, train, 1)
    assert (pointer["code"], pointer["severity"], pointer["range"]["start"]["line"]) == ("TL201", 4, 5)
    assert pointer["message"].startswith("PyTorch raises here. Writes `out` in place")
    assert pointer["message"].endswith("(net.py line 12)")
    if capabilities:
        (related,) = pointer["relatedInformation"]
        assert (related["location"]["uri"], related["location"]["range"]["start"]["line"]) == (net, 11)
    else:
        assert "relatedInformation" not in pointer


def test_it_goes_with_the_finding(wire: Wire, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NET)
    (tmp_path / "train.py").write_text(TRAIN)
    wire.start(SHOWING, workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "project"}])
    train = (tmp_path / "train.py").as_uri()
    wire.open(train, TRAIN)
    assert len(shown(wire, train, 1)) == 1
    wire.change(train, 2, {"text": TRAIN.replace("loss.backward()", "print(loss)")})
    assert shown(wire, train, 2) == []


ACTING = {
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True},
        "hover": {"contentFormat": ["markdown"]},
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}},
            "isPreferredSupport": True,
            "dataSupport": True,
            "resolveSupport": {"properties": ["edit"]},
        },
    },
    "workspace": {"workspaceEdit": {"documentChanges": True, "changeAnnotationSupport": {}}},
}
ENGINE = """def train_one_epoch(model, optimizer, batches):
    for batch in batches:
        optimizer.zero_grad()
        loss = model(batch).sum()
        loss.backward()
        optimizer.step()
"""
MAIN = """import torch
from engine import train_one_epoch
from net import Net

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
train_one_epoch(model, optimizer, [torch.randn(2, 3) for _ in range(4)])
"""


def test_no_line_raises_for_a_caller_that_is_only_imagined(wire: Wire, tmp_path: Path) -> None:
    wire.start(SHOWING)
    uri = (tmp_path / "net.py").as_uri()
    wire.open(uri, NET)
    (finding,) = shown(wire, uri, 1)
    assert "a backward through the result of `forward`" in finding["message"]


def _at(uri: str, line: int) -> dict[str, Any]:
    place = {"line": line, "character": 12}
    return {"textDocument": {"uri": uri}, "position": place, "range": {"start": place, "end": place}}


def _offered(wire: Wire, uri: str, line: int) -> list[dict[str, Any]]:
    params = {**_at(uri, line), "context": {"diagnostics": []}}
    found: list[dict[str, Any]] = wire.request("textDocument/codeAction", params)["result"]
    return found


def _has_the_cure_the_story_and_the_hover(wire: Wire, uri: str, line: int, net: str) -> None:
    first, *others = _offered(wire, uri, line)
    assert first["title"] == "In net.py, compute a new tensor instead of writing in place"
    assert first["isPreferred"] and first["command"]["command"] == "tapelint.showFix"
    assert not any("gnore" in each["title"] for each in others)
    edit = wire.request("codeAction/resolve", first)["result"]["edit"]
    (change,) = edit["documentChanges"]
    assert change["textDocument"]["uri"] == net
    (made,) = change["edits"]
    assert made["newText"] == "= out +" and made["range"]["start"]["line"] == 11
    hover = wire.request("textDocument/hover", _at(uri, line))["result"]["contents"]["value"]
    assert "Reported in net.py line 12: Writes `out` in place" in hover
    params = {"command": "tapelint.story", "arguments": [uri, {"line": line, "character": 12}]}
    story = wire.request("workspace/executeCommand", params)["result"]
    assert (story["code"], story["uri"]) == ("TL201", net)
    assert [step["uri"] for step in story["steps"]][-4:] == [uri, net, net, uri], "called, saved, written, needed"
    assert story["steps"][-1]["short"].endswith("raises")


def test_the_finding_is_cured_and_told_where_it_raises(wire: Wire, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NET)
    (tmp_path / "train.py").write_text(TRAIN)
    wire.start(ACTING, workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "project"}])
    train, net = ((tmp_path / name).as_uri() for name in ("train.py", "net.py"))
    wire.open(train, TRAIN)
    assert len(shown(wire, train, 1)) == 1
    _has_the_cure_the_story_and_the_hover(wire, train, 5, net)


@pytest.mark.parametrize("is_open", [True, False])
def test_a_file_that_raises_only_as_another_one_uses_it(wire: Wire, tmp_path: Path, is_open: bool) -> None:
    """engine.py goes backward and knows no network: main.py gives it one of net.py."""
    for name, text in {"net.py": NET, "engine.py": ENGINE, "main.py": MAIN}.items():
        (tmp_path / name).write_text(text)
    wire.start(ACTING, workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "project"}])
    engine, main, net = ((tmp_path / name).as_uri() for name in ("engine.py", "main.py", "net.py"))
    wire.open(engine, ENGINE)
    assert shown(wire, engine, 1) == []
    if is_open:
        wire.open(main, MAIN)
    (pointer,) = shown(wire, engine, 1)
    assert pointer["message"].startswith("PyTorch raises here. Writes `out` in place")
    _has_the_cure_the_story_and_the_hover(wire, engine, 4, net)


def test_a_finding_of_this_file_is_pointed_to_from_another_one(wire: Wire, tmp_path: Path) -> None:
    """The finding stands in main.py, and helpers.py has the line of the traceback."""
    helpers, main = ((tmp_path / name).as_uri() for name in ("helpers.py", "main.py"))
    (tmp_path / "helpers.py").write_text("def finish(loss):\n    loss.backward()\n")
    text = "import torch\nfrom helpers import finish\n\nw = torch.ones(3, requires_grad=True)\n"
    text += "y = w.exp()\ny += 1\nfinish(y.sum())\n"
    (tmp_path / "main.py").write_text(text)
    wire.start(SHOWING, workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "project"}])
    wire.open(helpers, (tmp_path / "helpers.py").read_text())
    assert shown(wire, helpers, 1) == []
    wire.open(main, text)
    assert [each["code"] for each in shown(wire, main, 1)] == ["TL201"]
    (pointer,) = shown(wire, helpers, 1)
    assert pointer["message"].endswith("(main.py line 6)")
