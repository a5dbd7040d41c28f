"""What was not seen of a document is in the status and in the log; a fault with its traceback, once."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from programs import BAD, GOOD
from wire import Wire, edit

LONG = f"n = {' + '.join(['n'] * 60)}\n"
CUT = f"import torch\ndef train(n):\n{f'    {LONG}' * 400}"
FAULTY = "import torch\ndef train(x):\n    broken\n"
WORDS = "`train` (line 2) was followed in part"
PATCHED = """\
import sys
sys.argv = ["tapelint", "server"]
import runpy
from tapelint.engine.machine import Machine

EVAL = Machine.eval

def evaluate(self, node, state):
    if getattr(node, "id", "") == "broken":
        raise ZeroDivisionError("by nothing")
    return EVAL(self, node, state)

Machine.eval = evaluate
runpy.run_module("tapelint", run_name="__main__")
"""


@pytest.fixture
def faulty() -> Iterator[Wire]:
    """A server with a fault: the name ``broken`` makes its engine divide by nothing."""
    wire = Wire([sys.executable, "-c", PATCHED])
    yield wire
    wire.close()


def says(words: str):
    return lambda m: m.get("method") == "tapelint/status" and words in m["params"]["message"]


def logs(wire: Wire) -> list[tuple[int, str]]:
    """The log, without what says how long an analysis took."""
    found = [message["params"] for message in wire.seen if message.get("method") == "window/logMessage"]
    return [(params["type"], params["message"]) for params in found if not re.search(r"\d s$", params["message"])]


def test_a_document_that_was_followed_in_part(wire: Wire, tmp_path: Path):
    """Said in the status as long as it is open; in the log once, whatever row it moves to."""
    cut, good = ((tmp_path / name).as_uri() for name in ("cut.py", "good.py"))
    wire.start()
    wire.open(cut, CUT)
    assert wire.until(says(f"cut.py: {WORDS}"))["params"]["state"] == "ready"
    wire.change(cut, 2, edit(0, 0, 0, "# moved\n"))
    wire.until(says(WORDS.replace("line 2", "line 3")))
    wire.open(good, GOOD)
    assert wire.published(good, 1) == []
    wire.notify("textDocument/didClose", {"textDocument": {"uri": cut}})
    wire.until(lambda m: m.get("method") == "tapelint/status" and m["params"] == {"state": "ready", "message": ""})
    assert logs(wire) == [(3, f"{tmp_path / 'cut.py'}: {WORDS}")]


def test_syntax_errors_make_one_notice(wire: Wire, tmp_path: Path):
    """One information in the status, findings as ever; several documents are listed by what they lack."""
    broken, cut = ((tmp_path / name).as_uri() for name in ("broken.py", "cut.py"))
    wire.start()
    wire.open(broken, f"{BAD}z = (\n")
    wire.until(says("broken.py: Syntax error: '(' was never closed; the rest of the file was checked"))
    wire.open(cut, CUT)
    wire.until(says("followed in part: cut.py; parsed in part: broken.py"))


def test_a_fault_is_logged_once(faulty: Wire, tmp_path: Path):
    """At the level of errors, with its traceback; what else there is to find is found."""
    uri = (tmp_path / "a.py").as_uri()
    faulty.start()
    faulty.open(uri, f"{FAULTY}{BAD}")
    faulty.until(says("`train` (line 2) could not be followed to the end: ZeroDivisionError: by nothing"))
    assert faulty.published(uri, 1)
    faulty.change(uri, 2, edit(0, 0, 0, "# moved\n"))
    faulty.until(says("`train` (line 3)"))
    (kind, text), (line, _) = logs(faulty)
    assert (kind, line) == (1, 3)
    assert "Traceback" in text and text.startswith(f"internal error in {tmp_path / 'a.py'}: `train` (line 2)")
