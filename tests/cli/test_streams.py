"""Streams that are closed, full or left by their reader: no traceback, and never the status of findings."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from plain import SERVER, Plain
from tests import forked

pytestmark = pytest.mark.skipif(os.name == "nt", reason="a shell of Unix")

BAD = """\
import torch
x = torch.ones(3, requires_grad=True)
y = x.exp()
y += 1
y.sum().backward()
"""
FORMS = pytest.mark.parametrize("form", ["full", "concise", "json", "sarif"])
CLOSED = "error: standard output cannot be written: it is closed\n"
FULL = "error: standard output cannot be written: No space left on device\n"
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk that is always full")


@pytest.mark.parametrize("form", ["full", "json"])
def test_standard_output_is_closed(plain: Plain, form: str) -> None:
    plain.write("a.py", BAD)
    done = plain.shell(f"$TAPELINT check --output-format {form} . >&-", cold=True)
    assert (done.returncode, done.stderr) == (2, CLOSED)


@needs_full
@FORMS
@pytest.mark.parametrize("jobs", [1, 2])
def test_full_disk(plain: Plain, form: str, jobs: int) -> None:
    for number in range(10):
        plain.write(f"m{number}.py", BAD)
    done = plain.shell(f"$TAPELINT check --jobs {jobs} --output-format {form} . > /dev/full")
    assert (done.returncode, done.stderr) == (2, FULL)


@needs_full
@pytest.mark.parametrize("command", ["rule", "rule TL101", "version", "--help", "check --fix -", "check --diff ."])
def test_other_commands(plain: Plain, command: str) -> None:
    plain.write("a.py", BAD)
    ways = ((">/dev/full", FULL), (">&-", CLOSED)) if command in ("rule", "check --fix -") else ((">/dev/full", FULL),)
    for to, said in ways:
        done = plain.shell(f"$TAPELINT {command} < a.py {to}", cold=said == CLOSED)
        assert done.returncode == 2
        assert [line for line in done.stderr.splitlines() if line.startswith("error")] == [said.rstrip("\n")]
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("to", ["2>&-", pytest.param("2>/dev/full", marks=needs_full)])
def test_standard_error_cannot_be_written(plain: Plain, to: str) -> None:
    """What is said there is lost, and nothing else: it does not go to standard output either."""
    plain.write("a.py", BAD)
    is_closed = to == "2>&-"
    done = plain.shell(f"$TAPELINT check --output-format concise nowhere a.py {to}", cold=is_closed)
    assert done.returncode == 2
    assert done.stdout.count("\n") == 1 and done.stdout.startswith("a.py:4:1: error[TL201] ")
    assert plain.shell(f"$TAPELINT check a.py {to}", cold=is_closed).returncode == 1
    assert plain.shell(f"$TAPELINT check --frobnicate {to}", cold=is_closed).returncode == 2


def test_all_streams_are_closed(plain: Plain) -> None:
    plain.write("a.py", BAD)
    assert plain.shell("$TAPELINT check --fix . <&- >&- 2>&-", cold=True).returncode == 2


def test_standard_input_cannot_be_read(plain: Plain) -> None:
    plain.write("a.py", BAD)
    done = plain.shell("$TAPELINT check --output-format concise - a.py <&-", cold=True)
    assert (done.returncode, done.stderr) == (2, "error: <stdin>: cannot be read: standard input is closed\n")
    assert done.stdout.startswith("a.py:4:1: error[TL201] ")


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("command", ["check .", "check --output-format json .", "rule", "--help"])
def test_broken_pipe(plain: Plain, command: str, jobs: int) -> None:
    """As ``head`` does. The reader has gone before the first line: the status is that of a broken pipe."""
    for number in range(10):
        plain.write(f"m{number}.py", BAD)
    command = command.replace("check", f"check --jobs {jobs}")
    read, write = os.pipe()
    os.close(read)
    running = forked.start("tapelint", *command.split(), stdout=write, cwd=plain.folder, env=plain.environment)
    os.close(write)
    running.stdin.close()
    with running.stderr:
        assert (running.stderr.read(), running.wait(60)) == (b"", 141)


CRASHES = """
import tapelint.cli.check
from tapelint.cli import main

def run(request):
    raise RecursionError("over and\\nover again")

tapelint.cli.check.run = run
main(lambda: None)
"""


def crashed(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", CRASHES, "check", "."],
        cwd=folder,
        env={"PYTHONPATH": str(SERVER), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_internal_errors_ask_for_a_report(tmp_path: Path) -> None:
    done = crashed(tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "internal error: RecursionError: over and over again; this is a bug of tapelint" in line
    assert "TAPELINT_LOG=debug" in line
    done = crashed(tmp_path, TAPELINT_LOG="debug")
    assert done.returncode == 2
    assert "Traceback" in done.stderr and "in run" in done.stderr


def test_syntax_warnings_are_not_printed(plain: Plain) -> None:
    r"""In 3.12 and later the parser itself warns of "\d"."""
    plain.write("a.py", 'import torch\nx = "\\d"\nassert (1, 2)\ny = 1 is 1\n')
    assert plain("check").stderr == ""
