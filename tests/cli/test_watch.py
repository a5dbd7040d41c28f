"""``--watch``: what changes is checked again, and what depends on it, until a signal ends the run."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from plain import SERVER, Tapelint

HELPER = "def keep(x):\n    return x{}\n"
TRAIN = """\
import torch
from helper import keep

w = torch.ones(3, requires_grad=True)
loss = keep(w).sum()
loss.backward()
"""
WATCHING = "Watching for file changes."


class Watching:
    """A run that goes on."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tapelint", "check", "--watch", "--output-format", "concise", *options],
            cwd=folder,
            env={"PYTHONPATH": str(SERVER), "PATH": os.environ["PATH"], "TAPELINT_LOG": "debug"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def round(self) -> str:
        """What is printed up to the end of the next round."""
        assert self.process.stdout is not None
        said = ""
        for line in self.process.stdout:
            if WATCHING in line:
                return said
            said += line
        raise AssertionError(said)

    def end(self, number: signal.Signals) -> tuple[int, str]:
        """The exit status after a signal, and what was logged."""
        os.killpg(self.process.pid, number)
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, said


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "helper.py").write_text(HELPER.format(""))
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "other.py").write_text("import torch\n")
    return tmp_path


@pytest.fixture
def watching(folder: Path) -> Iterator[Watching]:
    run = Watching(folder)
    yield run
    run.process.kill()
    run.process.wait()


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_what_changes_is_checked_again_with_what_depends_on_it(watching: Watching, folder: Path) -> None:
    first = watching.round()
    assert re.match(r"\[\d\d:\d\d:\d\d [AP]M\] Starting linter in watch mode\.\.\.\n\n", first)
    assert "TL301" not in first
    (folder / "helper.py").write_text(HELPER.format(".detach()"))
    second = watching.round()
    assert "File change detected..." in second
    assert re.search(r"train\.py:6:1: .*TL301", second)
    (folder / "tapelint.toml").write_text('ignore = ["TL301"]')
    assert "TL301" not in watching.round()
    (folder / "tapelint.toml").write_text("ignore = [")
    watching.round()
    (folder / "tapelint.toml").unlink()
    assert re.search(r"train\.py:6:1: .*TL301", watching.round())
    (folder / "train.py").unlink()
    assert "TL301" not in watching.round()
    status, log = watching.end(signal.SIGINT)
    assert status == 128 + signal.SIGINT
    assert "tapelint.toml" in log, "the configuration that cannot be read was not complained of"
    checked = re.findall(r"(\w+)\.py: begins", log)
    assert checked.count("other") < checked.count("train"), "what has not changed was checked again"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_a_process_that_is_ended_leaves_none_behind(watching: Watching) -> None:
    watching.round()
    status, _ = watching.end(signal.SIGTERM)
    assert status == 128 + signal.SIGTERM
    with pytest.raises(ProcessLookupError):
        os.killpg(watching.process.pid, 0)


def test_it_goes_not_with_what_cannot_be_done_again(tapelint: Tapelint) -> None:
    for option in ("--add-ignore", "--write-baseline", "-"):
        done = tapelint("check", "--watch", option)
        assert (done.returncode, done.stdout) == (2, "")
        assert "--watch goes neither with" in done.stderr
