"""``tapelint trace`` as a command: what it prints, what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from plain import Tapelint

PROGRAM = """\
import torch

w = torch.ones(3, requires_grad=True)
open("proof", "w")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text(PROGRAM)
    (tmp_path / "notes.txt").write_text("This is no program, is it?\n")
    (tmp_path / "book.ipynb").write_text("{}")
    return tmp_path


def test_a_file(tapelint: Tapelint, folder: Path) -> None:
    done = tapelint("trace", "a.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[:4] == [
        "script",
        "   1 | import torch",
        "   3 | w = torch.ones(3, requires_grad=True)",
        "     > w: leaf, requires grad, version 0",
    ]
    assert not (folder / "proof").exists()


def test_a_line(tapelint: Tapelint, folder: Path) -> None:
    done = tapelint("trace", "a.py:3")
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        done.stdout
        == "script\n   3 | w = torch.ones(3, requires_grad=True)\n     > w: leaf, requires grad, version 0\n"
    )


def test_imports_are_those_of_a_check(tapelint: Tapelint, folder: Path) -> None:
    """They are looked for in the folder where the command is started, also for a package's own modules."""
    (folder / "kit").mkdir()
    (folder / "kit" / "__init__.py").write_text("from kit.tensors import *\n")
    (folder / "kit" / "tensors.py").write_text("import torch\n")
    (folder / "b.py").write_text("from kit import *\nw = torch.ones(3, requires_grad=True)\n")
    assert "     > w: leaf, requires grad, version 0\n" in tapelint("trace", "b.py:2").stdout


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("b.py", "error: b.py: cannot be read: No such file or directory"),
        (".", "error: .: cannot be read: not a regular file"),
        ("a.py:0", "error: a.py: there is no line 0; the last is 4"),
        ("a.py:5", "error: a.py: there is no line 5; the last is 4"),
        ("notes.txt", "error: notes.txt: cannot be traced: line 1: invalid syntax"),
        ("book.ipynb", "error: book.ipynb: cannot be read: not a notebook"),
    ],
)
def test_what_cannot_be_traced(tapelint: Tapelint, folder: Path, target: str, words: str) -> None:
    done = tapelint("trace", target)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith(words)


SKIPPED = """\
import pytest
import torch


@pytest.mark.skip
def check_sum():
    total = torch.ones(3, requires_grad=True).sum()
"""


def test_the_configuration_counts_as_it_does_for_a_check(tapelint: Tapelint, folder: Path) -> None:
    """pytest does not run a test that is skipped; a function that is no test is run for want of a caller."""
    (folder / "check_net.py").write_text(SKIPPED)
    assert "> built SumBackward0" in tapelint("trace", "check_net.py:7").stdout
    (folder / "pytest.ini").write_text("[pytest]\npython_files = check_*.py\npython_functions = check_*\n")
    assert "no statement was executed there" in tapelint("trace", "check_net.py:7").stdout
    (folder / "tapelint.toml").write_text("select = 5\n")
    done = tapelint("trace", "check_net.py:7")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ") and "tapelint.toml" in done.stderr
