"""How far a run has come is shown on a terminal, and nowhere else."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from plain import SERVER

from tapelint.cli.outcome import Progress
from tapelint.cli.task import FileResult

SLOW = """
import time
from tapelint.cli import check
quick = check.check_file
def slow(task):
    time.sleep(0.4)
    return quick(task)
check.check_file = slow
from tapelint.cli import main
main(lambda: None)
"""


def test_a_line_says_how_far_it_is_and_how_long_it_takes() -> None:
    now, shown = 100.0, list[str]()
    progress = Progress(shown.append, lambda: now, is_shown=True)
    progress.begin(count=10, known=30)
    for _ in range(4):
        now += 0.5
        progress.take(FileResult("a.py"))
    assert shown[0] == "checking: 32 of 40 files, 0 findings, 4 s left", "of known files nothing is to be learnt"
    assert [line.split(",")[0] for line in shown] == [f"checking: {n} of 40 files" for n in (32, 33, 34)]
    progress.begin(count=1_000, known=0)
    now += 1_000
    progress.take(FileResult("a.py"))
    assert shown[-1].endswith("55 h 57 min left")


def test_what_comes_faster_than_a_reader_reads_is_left_out() -> None:
    now, shown = 100.0, list[str]()
    progress = Progress(shown.append, lambda: now, is_shown=True)
    progress.begin(count=1_000, known=0)
    for _ in range(500):
        now += 0.01
        progress.take(FileResult("a.py"))
    assert 0 < len(shown) <= 41, "one each tenth of a second, from the first second on"


def on_terminal(folder: Path, *arguments: str, **environment: str) -> tuple[str, int]:
    """What the command line, each file of which takes a while, writes to a terminal, and its exit status."""
    pty = pytest.importorskip("pty")
    here = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SERVER), "TERM": "xterm", "NO_COLOR": "1"}
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.execve(sys.executable, [sys.executable, "-c", SLOW, "check", *arguments], {**here, **environment})
    said = b""
    try:
        while part := os.read(terminal, 4096):
            said += part
    except OSError:
        pass  # the terminal is closed
    os.close(terminal)
    return said.decode().replace("\r\n", "\n"), os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(5):
        (tmp_path / f"m{number}.py").write_text("import torch\n")
    return tmp_path


def test_it_is_shown_on_a_terminal_and_gone_in_the_end(folder: Path) -> None:
    said, status = on_terminal(folder)
    assert "\r\033[Kchecking: 3 of 5 files, 0 findings, 1 s left" in said
    assert said.endswith("\r\033[KNothing found in 5 files.\n") and status == 0


@pytest.mark.parametrize("option", [("-q",), ("-s",), ("-v",)])
def test_it_is_not_shown_to_those_who_want_less_or_the_log(folder: Path, option: tuple[str, ...]) -> None:
    assert "\r" not in on_terminal(folder, *option)[0]


def test_it_is_not_shown_in_ci(folder: Path) -> None:
    assert "\r" not in on_terminal(folder, CI="true")[0]
