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
