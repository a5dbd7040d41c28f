"""``--fix`` that is stopped in the middle, by the system or by the user, leaves the old text or the new one."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from plain import Plain, variables
from tests import forked

resource = pytest.importorskip("resource")

BAD = """import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
y += 1
y.sum().backward()
"""
OLD = BAD + f"# a long row of a long file{' and so on' * 400}\n" * 100
NEW = OLD.replace("y += 1", "y = y + 1")
COMMAND = ("check", "--fix", "bad.py")
by_way = pytest.mark.parametrize("has_links", [False, True], ids=["replaced", "in place"])


def written(folder: Path, has_links: bool) -> Path:
    file = folder / "bad.py"
    file.write_text(OLD)
    if has_links:
        os.link(file, folder / "link.py")
    return file


@by_way
def test_a_file_system_that_takes_no_more(tmp_path: Path, has_links: bool) -> None:
    file = written(tmp_path, has_links)
    names = os.listdir(tmp_path)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    done = subprocess.run(
        [sys.executable, "-m", "tapelint", *COMMAND],
        cwd=tmp_path,
        env=variables(),
        capture_output=True,
        text=True,
        preexec_fn=limit,
        timeout=60,
    )
    assert done.returncode == 2
    assert "bad.py: not fixed: File too large" in done.stderr
    assert "TL201" in done.stdout, "what was not fixed is still reported"
    assert file.read_text() == OLD
    assert sorted(os.listdir(tmp_path)) == sorted(names)


@by_way
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("delay", [0.0, 0.0005, 0.002])
def test_a_process_that_is_stopped_while_it_writes(
    tmp_path: Path, has_links: bool, number: signal.Signals, delay: float
) -> None:
    """The signal comes when the file beside the one that is fixed is there; some time later, that is gone again."""
    file = written(tmp_path, has_links)
    with open(os.devnull, "r+") as nowhere:
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), nowhere.fileno())
        process = forked.start("tapelint", *COMMAND, cwd=tmp_path, env=variables(), **streams)
    while process.poll() is None and not beside(tmp_path):
        time.sleep(0.0001)  # it takes ten times as long to write the file
    time.sleep(delay)
    process.send_signal(number)
    process.wait(60)
    if number == signal.SIGKILL and has_links:
        kept = [copy.read_text() for copy in beside(tmp_path)]
        assert file.read_text() in (OLD, NEW) or OLD in kept, (
            "where it has to be written in place, the old text is beside"
        )
    else:
        assert file.read_text() in (OLD, NEW)
    if number != signal.SIGKILL:
        assert not beside(tmp_path)


def beside(folder: Path) -> list[Path]:
    return [*folder.glob(".tapelint-*")]


def test_a_file_that_may_only_be_read(plain: Plain, tmp_path: Path) -> None:
    """Neither is it replaced by one that may be written."""
    file = tmp_path / "bad.py"
    file.write_text(BAD)
    file.chmod(0o444)
    tmp_path.chmod(0o777)
    done = plain("check", "--fix", "bad.py")
    assert done.returncode == 2
    assert "bad.py: not fixed: Permission denied" in done.stderr
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == (BAD, 0o444)
