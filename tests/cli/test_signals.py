"""Signals and processes that die: what was found is printed, nothing is left running, and it is said.

The analysis is the double of double.py.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from plain import SERVER
from tests import forked

from tapelint.cli.check import run
from tapelint.cli.request import Request

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="signals of Unix")

DOUBLE = Path(__file__).with_name("double.py")


# Becomes the command that it is given, with the signals as a job in the foreground of a terminal has them, whatever the
# tests run under. Not a ``preexec_fn``: Python that runs between fork and exec may wait for ever for a lock of another
# thread of the tests.
AS_FROM_A_SHELL = """
import os, signal, sys
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
    signal.signal(number, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_SETMASK, ())
os.execvp(sys.argv[1], sys.argv[1:])
"""


class Running:
    """The command line with the double, in a group of processes of its own; ``waiting`` are those that wait."""

    def __init__(self, folder: Path, *arguments: str, waiting: int = 1, before: list[str] | None = None) -> None:
        env = {"PYTHONPATH": str(SERVER), "PATH": os.environ["PATH"]}
        if before:
            command = [sys.executable, "-c", AS_FROM_A_SHELL, *before, sys.executable, str(DOUBLE), "check", *arguments]
            pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
            self.process: Any = subprocess.Popen(command, cwd=folder, env=env, start_new_session=True, **pipes)
        else:
            self.process = forked.start(DOUBLE, "check", *arguments, cwd=folder, env=env, session=True)
        self.waiting: list[int] = []
        self.said = ""
        while len(self.waiting) < waiting:
            line = self.process.stderr.readline().decode()
            assert line, self.said
            if line.startswith("waiting "):
                self.waiting.append(int(line.split()[1]))
            else:
                self.said += line

    def end(self) -> tuple[int, str, str]:
        """Wait until every process that holds the streams is gone; the status and what was printed."""
        with ThreadPoolExecutor(2) as pool, self.process.stdin:
            out, err = (pool.submit(stream.read) for stream in (self.process.stdout, self.process.stderr))
            status = self.process.wait(60)
            return status, out.result().decode(), self.said + err.result().decode()


def write(folder: Path, *texts: str) -> None:
    for number, text in enumerate(texts):
        (folder / f"m{number:02}.py").write_text(f"{text}  # torch\n")


ENDING = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])


FORMATS = "full concise grouped json json-lines sarif junit github gitlab pylint azure rdjson".split()


@pytest.mark.parametrize(
    ("form", "number"),
    [*((form, signal.SIGINT) for form in FORMATS), ("full", signal.SIGTERM), ("full", signal.SIGHUP)],
)
def test_interrupt_prints_the_findings_so_far(tmp_path: Path, form: str, number: signal.Signals) -> None:
    write(tmp_path, "ok", "ok", "wait", "ok")
    run = Running(tmp_path, "--output-format", form, ".")
    run.process.send_signal(number)
    status, out, err = run.end()
    assert (status, err) == (128 + number, "error: interrupted after 2 of 4 files\n")
    assert "m00.py" in out and "m01.py" in out and "m03.py" not in out
    if form in ("json", "gitlab"):
        assert len(json.loads(out)) == 2
    if form == "sarif":
        assert len(json.loads(out)["runs"][0]["results"]) == 2
    if form == "rdjson":
        assert len(json.loads(out)["diagnostics"]) == 2
    if form == "json-lines":
        assert [len(json.loads(row)["findings"]) for row in out.splitlines()] == [1, 1]
    if form == "junit":
        assert [suite.get("name") for suite in ElementTree.fromstring(out)] == ["m00.py", "m01.py", "tapelint"]


@ENDING
@pytest.mark.parametrize("to_all", [False, True], ids=["parent", "group"])
def test_workers_end_with_an_interrupted_parent(tmp_path: Path, number: signal.Signals, to_all: bool) -> None:
    """Two files wait; what came after them has been found all the same. A terminal sends the signal to all."""
    write(tmp_path, "ok", "wait", *["ok"] * 8, "wait")
    run = Running(tmp_path, "--jobs", "2", "--output-format", "json", ".", waiting=2)
    assert run.process.pid not in run.waiting
    if to_all:
        os.killpg(run.process.pid, number)
    else:
        run.process.send_signal(number)
    status, out, err = run.end()
    assert status == 128 + number
    assert err == "error: interrupted after 9 of 11 files\n"
    assert [found["filename"] for found in json.loads(out)] == [f"m{n:02}.py" for n in range(10) if n != 1]
    for process in run.waiting:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    """The streams are at their end when nobody holds them any more."""
    write(tmp_path, *["wait"] * 10)
    run = Running(tmp_path, "--jobs", "3", ".", waiting=3)
    run.process.kill()
    assert run.end()[0] == -signal.SIGKILL


def test_ignored_signals_stay_ignored(tmp_path: Path) -> None:
    write(tmp_path, "wait")
    run = Running(tmp_path, ".", before=["nohup"])
    run.process.send_signal(signal.SIGHUP)
    run.process.send_signal(signal.SIGTERM)
    assert run.end()[0] == 128 + signal.SIGTERM


def test_a_worker_that_dies_once_is_replaced(tmp_path: Path) -> None:
    """Its file is checked again, when the others have finished; the files after it still have several processes."""
    write(tmp_path, *["ok"] * 3, "once", *["ok"] * 7, "later", "wait", "wait")
    run = Running(tmp_path, "--jobs", "2", "--output-format", "concise", ".", waiting=2)
    run.process.send_signal(signal.SIGINT)
    status, out, err = run.end()
    assert status == 130
    assert [line[:6] for line in out.splitlines()] == [f"m{n:02}.py" for n in range(12)]
    assert err.splitlines() == [
        "warning: m03.py: a process ended while it checked this (SIGKILL): checked again alone",
        "error: interrupted after 12 of 14 files",
    ]


def test_a_worker_that_dies_twice_fails_its_file(tmp_path: Path) -> None:
    write(tmp_path, *["ok"] * 3, "killed", *["ok"] * 8)
    status, out, err = Running(tmp_path, "--jobs", "2", "--output-format", "concise", ".", waiting=0).end()
    assert status == 2
    assert [line[:6] for line in out.splitlines()] == [f"m{n:02}.py" for n in range(12) if n != 3]
    assert err.splitlines() == [
        "error: m03.py: not checked: its process was ended twice (SIGKILL), as it is where memory runs out"
    ]


def test_a_worker_that_leaves_twice_fails_its_file(tmp_path: Path) -> None:
    """No signal has ended it: that is a fault of ours."""
    write(tmp_path, *["ok"] * 3, "left", *["ok"] * 8)
    status, out, err = Running(tmp_path, "--jobs", "2", "--output-format", "concise", ".", waiting=0).end()
    assert status == 2
    assert [line[:6] for line in out.splitlines()] == [f"m{n:02}.py" for n in range(12) if n != 3]
    assert "internal error in m03.py: its process died (status 9)" in err


def test_without_workers_the_main_process_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then this process does the work."""

    def refused(process: BaseProcess) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    write(tmp_path, *["import os"] * 10)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(BaseProcess, "start", refused)
    assert run(Request((".",), jobs=4)) == 0
