"""Tracebacks as people copy them. `texts/` holds what these programs printed for one program, but for the folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapelint.tracebacks import Frame, Raised, raised_in, the_one

TEXTS = Path(__file__).with_name("texts")
SECOND = "Trying to backward through the graph a second time"


def read(form: str) -> Raised:
    return the_one(raised_in((TEXTS / f"{form}.txt").read_text(encoding="utf-8")))


@pytest.mark.parametrize("form", ["python", "pytest", "ipython", "rich", "torchrun"])
def test_the_frames_of_the_program(form: str) -> None:
    raised = read(form)
    assert raised.kind == "RuntimeError"
    assert raised.message.startswith(SECOND)
    assert raised.message.endswith("access saved tensors after calling backward.")
    assert [(f.row, f.code) for f in raised.frames if f.path.endswith("train.py")][-2:] == [
        (18, "step(features, x)"),
        (11, "loss.backward()"),
    ]


def test_cells_of_a_notebook() -> None:
    frames = [frame for frame in read("notebook").frames if frame.path.startswith("Cell")]
    assert frames == [Frame("Cell In[4]", 2, "step(features, x)"), Frame("Cell In[3]", 4, "loss.backward()")]


def test_the_forward_that_anomaly_mode_names() -> None:
    raised = read("anomaly")
    assert [frame.row for frame in raised.forward] == [14, 9]
    assert [frame.row for frame in raised.frames][0] == 15
    assert "is at version 1" in raised.message


def test_what_a_launcher_puts_before_each_line() -> None:
    text = "".join(f"[rank0]:{line}\n" for line in (TEXTS / "python.txt").read_text().splitlines())
    raised = the_one(raised_in(text))
    assert (raised.frames[2].row, raised.message.startswith(SECOND)) == (11, True)


def test_colours() -> None:
    (raised,) = raised_in('\x1b[35m  File "a.py", line 3\x1b[0m\n    y()\n\x1b[1;31mValueError\x1b[0m: no\n')
    assert raised == Raised("ValueError", "no", (Frame("a.py", 3, "y()"),))


def test_the_exception_that_ends_a_chain_is_not_the_one_of_autograd() -> None:
    text = (TEXTS / "python.txt").read_text()
    later = 'Traceback (most recent call last):\n  File "train.py", line 30, in main\n    save()\nOSError: disk full\n'
    assert the_one(raised_in(f"{text}\nDuring handling of the above exception:\n\n{later}")).message.startswith(SECOND)


def test_an_error_of_which_only_the_message_was_copied() -> None:
    assert raised_in("  one of the variables needed\n for gradient ") == (
        Raised("", "one of the variables needed for gradient"),
    )


@pytest.mark.parametrize("text", ["", " \n\n"])
def test_nothing(text: str) -> None:
    assert raised_in(text) == ()
