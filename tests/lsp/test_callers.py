"""The files that use a document, in an editor: executed when there is time, opened or not."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from wire import Wire

HELPER = """import torch


def finish(loss):
    loss.backward()
    return loss
"""
RETAINING = HELPER.replace("backward()", "backward(retain_graph=True)")
TRAIN = """import torch
from helper import finish

if __name__ == "__main__":
    y = torch.ones(3, requires_grad=True).exp().sum()
    finish(y)
    finish(y)
"""
AGAIN = TRAIN.replace("finish(y)\n    finish(y)", "y = finish(y)\n    y.backward()")


@pytest.fixture
def opened(wire: Wire, tmp_path: Path) -> Iterator[tuple[Wire, str, str]]:
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "train.py").write_text(TRAIN)
    wire.start({}, workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "project"}])
    yield wire, (tmp_path / "helper.py").as_uri(), (tmp_path / "train.py").as_uri()


def test_what_a_caller_shows_is_added(opened: tuple[Wire, str, str]):
    wire, helper, _ = opened
    wire.open(helper, HELPER)
    assert wire.published(helper, 1) == [], "its own findings come first"
    (found,) = wire.published(helper, 1)
    assert (found["code"], found["severity"], found["range"]["start"]["line"]) == ("TL101", 1, 4)
    assert "Happens where line 7 of train.py calls it." in found["message"]
    wire.change(helper, 2, {"text": RETAINING})
    assert wire.published(helper, 2) == []
    wire.change(helper, 3, {"text": f"# moved\n{HELPER}"})
    assert wire.published(helper, 3) == []
    (found,) = wire.published(helper, 3)
    assert found["range"]["start"]["line"] == 5


def test_what_an_edit_does_to_a_caller_is_pushed_there(opened: tuple[Wire, str, str], tmp_path: Path):
    wire, helper, train = opened
    (tmp_path / "train.py").write_text(AGAIN)
    wire.open(helper, HELPER)
    (found,) = wire.published(train)
    assert (found["code"], found["range"]["start"]["line"]) == ("TL101", 6)
    wire.change(helper, 2, {"text": RETAINING})
    assert wire.published(train) == []
    wire.change(helper, 3, {"text": HELPER})
    assert wire.published(train)
    wire.notify("textDocument/didClose", {"textDocument": {"uri": helper}})
    assert wire.published(train) == []


def test_what_has_nothing_to_do_with_the_document_is_not_pushed(opened: tuple[Wire, str, str], tmp_path: Path):
    wire, helper, train = opened
    (tmp_path / "train.py").write_text(f"{TRAIN}    z = y.exp().sum()\n    z.backward()\n    z.backward()\n")
    wire.open(helper, HELPER)
    assert wire.published(helper, 1) == []
    assert wire.published(helper, 1)
    wire.notify("textDocument/didClose", {"textDocument": {"uri": helper}})
    assert wire.published(helper) == []
    assert not any(m.get("params", {}).get("uri") == train for m in wire.seen if "params" in m)


def test_callers_can_be_left_out(opened: tuple[Wire, str, str], tmp_path: Path):
    wire, helper, _ = opened
    (tmp_path / "tapelint.toml").write_text("callers = false\n")
    wire.open(helper, HELPER)
    assert wire.published(helper, 1) == []
    time.sleep(1.0)
    wire.change(helper, 2, {"text": RETAINING})
    assert wire.published(helper, 2) == []
    shown = [m for m in wire.seen if m.get("method") == "textDocument/publishDiagnostics"]
    assert [each["params"]["version"] for each in shown] == [1, 2]


def test_a_caller_that_was_changed_on_disk_is_executed_again(opened: tuple[Wire, str, str], tmp_path: Path):
    wire, helper, train = opened
    wire.open(helper, HELPER)
    assert wire.published(helper, 1) == []
    assert wire.published(helper, 1)
    (tmp_path / "train.py").write_text(TRAIN.replace("    finish(y)\n    finish(y)", "    finish(y)"))
    wire.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": train, "type": 2}]})
    while wire.published(helper, 1):
        pass


def test_what_others_use_without_gradients_only_is_not_judged_with_them(wire: Wire, tmp_path: Path):
    halving = """import torch


class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)

    def halve(self):
        self.layer.weight.mul_(0.5)
"""
    quiet = "import torch\nfrom scale import Scale\n\n\n@torch.no_grad()\ndef shrink():\n    Scale().halve()\n"
    (tmp_path / "shrink.py").write_text(quiet)
    wire.start({}, workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "project"}])
    scale, shrink = (tmp_path / "scale.py").as_uri(), (tmp_path / "shrink.py").as_uri()
    wire.open(scale, halving)
    assert wire.published(scale, 1) == []
    wire.open(shrink, quiet)
    wire.change(shrink, 2, {"text": quiet.replace("@torch.no_grad()\n", "")})
    (found,) = next(filter(None, (wire.published(scale, 1) for _ in range(4))))
    assert (found["code"], found["range"]["start"]["line"]) == ("TL203", 9)
