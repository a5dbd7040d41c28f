"""``tapelint explain``: from a traceback or a line to the finding."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from plain import Tapelint

TEXTS = Path(__file__).parents[1] / "tracebacks" / "texts"
TRAIN = """\
import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def step(features, x):
    loss = (model(x) * features).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    features = torch.ones(4, requires_grad=True).exp()
    for x in torch.randn(3, 2, 4):
        step(features, x)


if __name__ == "__main__":
    main()
"""
"""What the tracebacks of ``texts`` are of."""
MESSAGE = b"RuntimeError: Trying to backward through the graph a second time"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(TRAIN)
    return tmp_path


def pasted(form: str) -> bytes:
    return (TEXTS / f"{form}.txt").read_bytes()


@pytest.mark.parametrize("form", ["python", "pytest", "ipython", "rich", "torchrun"])
def test_a_traceback_leads_to_the_finding(tapelint: Tapelint, folder: Path, form: str) -> None:
    done = tapelint("explain", stdin=pasted(form))
    assert (done.returncode, done.stderr) == (0, "")
    assert "raised at train.py:11" in done.stdout
    assert "error[TL103]" in done.stdout and "`features`" in done.stdout
    assert "\nfix [--fix]: " in done.stdout and "\nstory:\n" in done.stdout


def test_the_file_may_have_changed_since(tapelint: Tapelint, folder: Path) -> None:
    (folder / "train.py").write_text("# a line more\n\n" + TRAIN)
    done = tapelint("explain", stdin=pasted("python"))
    assert "raised at train.py:13" in done.stdout
    assert "error[TL103]" in done.stdout


def test_the_line_may_be_gone(tapelint: Tapelint, folder: Path) -> None:
    (folder / "train.py").write_text(TRAIN.replace("loss.backward()", "pass").replace("features)", "features, 1)"))
    done = tapelint("explain", stdin=pasted("python"))
    assert "train.py: no line is `loss.backward()` any more" in done.stdout


def test_a_notebook(tapelint: Tapelint, folder: Path) -> None:
    setup, step, loop = TRAIN.split("\n\n\n")[:3]
    loop = "features = torch.ones(4, requires_grad=True).exp()\nfor x in torch.randn(3, 2, 4):\n    step(features, x)"
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": text} for text in (setup, step, loop)]
    (folder / "study.ipynb").write_text(
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    done = tapelint("explain", "study.ipynb", stdin=pasted("notebook"))
    assert "error[TL103]" in done.stdout


def test_another_folder_is_said(tapelint: Tapelint, tmp_path: Path) -> None:
    done = tapelint("explain", stdin=pasted("python"))
    assert done.returncode == 0
    assert "No file of the traceback is below" in done.stdout and "tapelint explain FILE" in done.stdout
    assert "tapelint rule TL101" in done.stdout


def test_only_the_message(tapelint: Tapelint, folder: Path) -> None:
    done = tapelint("explain", "train.py", stdin=MESSAGE)
    assert "the same error is predicted here" in done.stdout
    assert "error[TL103]" in done.stdout


def test_where_nothing_is_found_it_says_what_was_seen(tapelint: Tapelint, folder: Path) -> None:
    (folder / "train.py").write_text("import torch\nfrom elsewhere import loss\n\nloss().backward()\n")
    text = b'Traceback (most recent call last):\n  File "/x/train.py", line 4, in <module>\n    loss().backward()\n'
    done = tapelint("explain", stdin=text + MESSAGE)
    assert done.returncode == 0
    assert "tapelint does not see the cause" in done.stdout
    assert "What was seen of train.py:4" in done.stdout


def test_what_is_withheld_is_said_where_it_raises(tapelint: Tapelint, folder: Path) -> None:
    """PyTorch raises if both flags are true; that needs two choices, so it is not reported."""
    program = (
        "import json, torch\nflags = json.load(open('flags.json'))\nw = torch.ones(3, requires_grad=True)\ny = w * 2\n"
        "if flags['a']:\n    y = w.exp()\nif flags['b']:\n    y += 1\ny.sum().backward()\n"
    )
    (folder / "train.py").write_text(program)
    done = tapelint("explain", "train.py:9")
    assert done.returncode == 0
    assert "Nothing is found at train.py:9." in done.stdout
    assert "not reported in line 8: TL201, it needs more than one choice" in done.stdout


def test_another_error(tapelint: Tapelint, folder: Path) -> None:
    text = b'Traceback (most recent call last):\n  File "train.py", line 11, in step\n    loss.backward()\n'
    done = tapelint("explain", stdin=text + b"KeyboardInterrupt: \n")
    assert "No rule of tapelint predicts this message" in done.stdout
    assert "What is found at the lines of the traceback" in done.stdout


@pytest.mark.parametrize("line", [11, 9, 16])
def test_a_line(tapelint: Tapelint, folder: Path, line: int) -> None:
    done = tapelint("explain", f"train.py:{line}")
    assert done.returncode == 0
    assert "error[TL103]" in done.stdout


def test_a_line_without_findings(tapelint: Tapelint, folder: Path) -> None:
    done = tapelint("explain", "train.py:10")
    assert "Nothing is found at train.py:10." in done.stdout
    assert "optimizer.zero_grad()" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("train.py:99",), "there is no line 99"),
        (("nothing.py:3",), "nothing.py: cannot be read: No such file or directory"),
        ((), "no traceback and no error message"),
    ],
)
def test_what_cannot_be_explained(tapelint: Tapelint, folder: Path, arguments: tuple[str, ...], said: str) -> None:
    done = tapelint("explain", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
