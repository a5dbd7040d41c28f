"""The command that leads from a traceback to a finding: for every client that can send a command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from open_notebook import BOOK, cell, open_book
from open_notebook import PUSHED as NOTEBOOKS
from wire import Wire

APPLYING = {"workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}}}
TRAIN = """\
import torch

y = torch.ones(3, requires_grad=True).exp()
y += 1
loss = y.sum()
loss.backward()
"""
MODIFIED = (
    "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: "
    "[torch.FloatTensor [3]], which is output 0 of ExpBackward0, is at version 1; expected version 0 instead."
)
TRACEBACK = f"""\
Traceback (most recent call last):
  File "/somewhere/else/train.py", line 6, in <module>
    loss.backward()
{MODIFIED}
"""


@pytest.fixture
def project(wire: Wire, tmp_path: Path) -> Iterator[tuple[Wire, str]]:
    (tmp_path / "train.py").write_text(TRAIN)
    wire.start({}, workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "project"}])
    yield wire, (tmp_path / "train.py").as_uri()


def explain(wire: Wire, *arguments: str) -> dict[str, object]:
    command = {"command": "tapelint.explain", "arguments": [*arguments]}
    answer: dict[str, object] = wire.request("workspace/executeCommand", command)["result"]
    return answer


def test_it_goes_to_the_finding_in_a_file_that_is_not_open(project: tuple[Wire, str]) -> None:
    wire, train = project
    answer = explain(wire, TRACEBACK)
    assert "error[TL201]" in str(answer["text"]) and "raised at train.py:6" in str(answer["text"])
    start, end = {"line": 3, "character": 0}, {"line": 3, "character": 6}
    assert answer["location"] == {"uri": train, "range": {"start": start, "end": end}}


def test_paths_are_those_of_the_workspace(project: tuple[Wire, str], tmp_path: Path) -> None:
    wire, _ = project
    text = str(explain(wire, TRACEBACK)["text"])
    assert "--> train.py:4:1" in text and str(tmp_path) not in text


def test_what_is_advised_is_done_in_an_editor(project: tuple[Wire, str]) -> None:
    wire, _ = project
    elsewhere = TRACEBACK.replace("train.py", "elsewhere.py")
    text = str(explain(wire, elsewhere)["text"])
    assert "open the folder of the program, or go to its file" in text and "`tapelint " not in text


def test_the_text_names_no_options_and_wraps_no_lines(project: tuple[Wire, str]) -> None:
    wire, _ = project
    text = str(explain(wire, TRACEBACK)["text"])
    assert "fix: " in text and "--fix" not in text
    assert "modified by an inplace operation" in max(text.splitlines(), key=len)


def test_the_page_has_the_cause_its_steps_and_its_cures(project: tuple[Wire, str], tmp_path: Path) -> None:
    wire, train = project
    answer = explain(wire, TRACEBACK)
    page: Any = answer["page"]
    assert str(tmp_path) not in json.dumps({**page, "findings": []}).replace(train, "")
    assert page["error"] == MODIFIED and page["raised"]["name"] == "train.py:6" and page["remarks"] == []
    (found,) = page["findings"]
    assert (found["code"], found["name"], found["severity"]) == ("TL201", "saved-tensor-modified", "error")
    assert found["place"] == {"name": "train.py:4", "code": "y += 1", "location": answer["location"]}
    assert [{*cure} for cure in found["cures"]] == [{"title", "effect", "command"}] * len(found["cures"])
    steps = [(step["place"]["name"], step["place"]["code"]) for step in found["steps"]]
    assert steps[0] == ("train.py:3", "y = torch.ones(3, requires_grad=True).exp()")
    assert steps[-1] == ("train.py:6", "loss.backward()")
    assert found["message"] not in [step["message"] for step in found["steps"]]
    assert all(step["place"]["location"]["uri"] == train for step in found["steps"])


def test_a_page_without_a_finding_says_what_was_seen(project: tuple[Wire, str]) -> None:
    wire, train = project
    wire.open(train, TRAIN.replace("y += 1", "pass"))
    page: Any = explain(wire, TRACEBACK)["page"]
    assert page["findings"] == [] and page["raised"]["code"] == "loss.backward()"
    assert "`tapelint" not in "".join(page["remarks"]) and "does not see the cause" in page["remarks"][-1]


@pytest.mark.parametrize(
    "text", [TRAIN, TRAIN.replace("\n", "\r\n"), "# 😀\n" + TRAIN], ids=["unix", "windows", "wide"]
)
def test_a_button_makes_the_cure_and_it_can_be_undone(wire: Wire, tmp_path: Path, text: str) -> None:
    (tmp_path / "train.py").write_bytes(text.encode())
    wire.start(APPLYING, rootUri=tmp_path.as_uri())
    (found,) = _page(wire)["findings"]
    command = found["cures"][0]["command"]
    assert command["title"] == found["cures"][0]["title"]
    wire.answers = False
    request = wire.ask("workspace/executeCommand", command)
    edit = wire.until(lambda message: message.get("method") == "workspace/applyEdit")
    assert _applied(text, edit["params"]["edit"]) == text.replace("y += 1", "y = y + 1")
    wire.send(id=edit["id"], result={"applied": True})
    asked = wire.until(lambda message: message.get("method") == "window/showMessageRequest")
    assert wire.answer(request)["result"] == {"applied": True}
    assert [each["title"] for each in asked["params"]["actions"]] == ["Undo"]


def test_a_button_changes_nothing_where_the_text_is_another_by_now(wire: Wire, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    wire.start(APPLYING, rootUri=tmp_path.as_uri())
    (found,) = _page(wire)["findings"]
    wire.open((tmp_path / "train.py").as_uri(), f"# newer\n{TRAIN}")
    answer = wire.request("workspace/executeCommand", found["cures"][0]["command"])
    assert answer["result"] == {"applied": False}
    told = [each for each in wire.seen if each.get("method") == "window/showMessage"]
    assert [each["params"]["type"] for each in told] == [2] and "has changed" in told[0]["params"]["message"]


RUN = """\
import torch
from model import forward

y = torch.ones(3, requires_grad=True).exp()
forward(y).backward()
"""
MODEL = "def forward(y):\n    y += 1\n    return y.sum()\n"


def test_a_button_cures_another_file(wire: Wire, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(RUN)
    (tmp_path / "model.py").write_text(MODEL)
    wire.start(APPLYING, rootUri=tmp_path.as_uri())
    (found,) = _page(wire, 5, "forward(y).backward()")["findings"]
    assert found["place"]["name"] == "model.py:2"
    wire.ask("workspace/executeCommand", found["cures"][0]["command"])
    edit = wire.until(lambda message: message.get("method") == "workspace/applyEdit")["params"]["edit"]
    assert [each["textDocument"]["uri"] for each in edit["documentChanges"]] == [(tmp_path / "model.py").as_uri()]
    assert _applied(MODEL, edit) == MODEL.replace("y += 1", "y = y + 1")


def _page(wire: Wire, line: int = 6, code: str = "loss.backward()") -> Any:
    return explain(
        wire, f'Traceback (most recent call last):\n  File "train.py", line {line}\n    {code}\n{MODIFIED}\n'
    )["page"]


def _applied(text: str, edit: dict[str, Any]) -> str:
    """A text after an edit, whose lines are counted in UTF-16."""
    rows = text.splitlines(keepends=True)
    (change,) = edit["documentChanges"]
    for each in reversed(change["edits"]):
        first, last = each["range"]["start"], each["range"]["end"]
        before = "".join(rows[: first["line"]]) + rows[first["line"]][: first["character"]]
        text = before + each["newText"] + "".join(rows[last["line"] :])[last["character"] :]
    return text


def test_it_reads_what_is_not_saved(project: tuple[Wire, str]) -> None:
    wire, train = project
    wire.open(train, f"# not saved\n{TRAIN}")
    location = explain(wire, TRACEBACK)["location"]
    assert isinstance(location, dict) and location["range"]["start"]["line"] == 4


def test_without_a_finding_it_goes_to_the_line_that_raises(project: tuple[Wire, str]) -> None:
    wire, train = project
    wire.open(train, TRAIN.replace("y += 1", "pass"))
    answer = explain(wire, TRACEBACK)
    assert "does not see the cause" in str(answer["text"])
    location = answer["location"]
    assert isinstance(location, dict) and location["range"]["start"]["line"] == 5


def test_only_the_message_and_a_file(project: tuple[Wire, str]) -> None:
    wire, train = project
    answer = explain(wire, MODIFIED, train)
    assert "the same error is predicted here" in str(answer["text"])


def test_another_project(project: tuple[Wire, str]) -> None:
    wire, _ = project
    answer = explain(wire, TRACEBACK.replace("train.py", "other.py"))
    assert answer["location"] is None
    assert "(TL201)" in str(answer["text"])


def test_no_text(project: tuple[Wire, str]) -> None:
    wire, _ = project
    said = "There is no traceback and no error message in this text."
    assert explain(wire, " ") == {"text": said, "location": None, "page": None}


CELL = f"""\
RuntimeError                              Traceback (most recent call last)
Cell In[4], line 1
----> 1 y.sum().backward()

{MODIFIED}
"""


def test_the_traceback_of_a_cell_leads_into_the_open_notebook(wire: Wire) -> None:
    wire.start(NOTEBOOKS)
    open_book(wire)
    answer = explain(wire, CELL, BOOK)
    assert "raised at /project/a.ipynb:cell 4:1\n" in str(answer["text"]) and "error[TL201]" in str(answer["text"])
    start, end = {"line": 1, "character": 0}, {"line": 1, "character": 6}
    assert answer["location"] == {"uri": cell(1), "range": {"start": start, "end": end}}


SHARED = """\
import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
(y * 2 + x).sum().backward()
(y * 3 + x).sum().backward()
"""


def test_a_cure_says_what_it_changes_besides(wire: Wire, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SHARED)
    wire.start(APPLYING, rootUri=tmp_path.as_uri())
    second = "RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors"
    text = (
        f'Traceback (most recent call last):\n  File "train.py", line 6\n    (y * 3 + x).sum().backward()\n{second}\n'
    )
    page: Any = explain(wire, text)["page"]
    assert any(cure["effect"].endswith(".") for cure in page["findings"][0]["cures"])
