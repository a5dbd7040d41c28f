"""The command that leads from a traceback to a finding: for every client that can send a command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from open_notebook import BOOK, cell, open_book
from open_notebook import PUSHED as NOTEBOOKS
from wire import Wire

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
    assert explain(wire, " ") == {"text": "There is no traceback and no error message in this text.", "location": None}


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
