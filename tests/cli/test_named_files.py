"""What ``explain``, ``trace``, ``graph`` and ``debug-bundle`` cannot use is said in one line, and the status is 2."""

from __future__ import annotations

import pytest
from plain import Plain

BAD = """\
import torch
y = torch.ones(3, requires_grad=True).exp()
y += 1
y.sum().backward()
"""
WITH_LINES = ("explain", "trace", "graph")


@pytest.fixture
def folder(plain: Plain) -> Plain:
    (plain.folder / "inner").mkdir()
    plain.write("a.py", BAD)
    plain.write("inner/a.py", BAD)
    plain.write("inner/tapelint.toml", "\nselekt = []\n")
    plain.write("secret.py", BAD, 0o000)
    plain.write("broken.ipynb", '{"cells": [')
    (plain.folder / "binary.py").write_bytes(b"\xff\xfe\x00")
    return plain


@pytest.mark.parametrize("command", [*WITH_LINES, "debug-bundle"])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nowhere.py", "nowhere.py: cannot be read: No such file or directory"),
        ("inner", "inner: cannot be read: not a regular file"),
        ("secret.py", "secret.py: cannot be read: Permission denied"),
        ("binary.py", "binary.py: cannot be read: a binary file, not Python source"),
        ("inner/a.py", "inner/tapelint.toml:2: unknown key 'selekt'; did you mean 'select'? "),
    ],
)
def test_a_file_that_cannot_be_used(folder: Plain, command: str, name: str, words: str) -> None:
    for target in (name, f"{name}:3") if command in WITH_LINES else (name,):
        if command == "graph" and target == name:
            continue  # it asks for a line
        done = folder(command, target)
        (line,) = done.stderr.splitlines()
        assert (done.returncode, done.stdout) == (2, "")
        assert line.startswith("error: ") and words in line


@pytest.mark.parametrize("command", WITH_LINES)
def test_a_notebook_that_is_none(folder: Plain, command: str) -> None:
    done = folder(command, "broken.ipynb:1")
    assert done.returncode == 2
    assert done.stderr.startswith("error: broken.ipynb: cannot be read: not a notebook: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", WITH_LINES)
@pytest.mark.parametrize("line", [0, 99])
def test_a_line_that_is_none(folder: Plain, command: str, line: int) -> None:
    done = folder(command, f"a.py:{line}")
    assert (done.returncode, done.stderr) == (2, f"error: a.py: there is no line {line}; the last is {LAST[command]}\n")


LAST = {"explain": 5, "trace": 4, "graph": 5}
"""``trace`` does not count what stands behind the last line end."""


@pytest.mark.parametrize("command", WITH_LINES)
def test_a_place_as_findings_are_printed_with(folder: Plain, command: str) -> None:
    """``a.py:3:1`` is what ``check`` prints, and what one copies."""
    with_column, without = folder(command, "a.py:3:1"), folder(command, "a.py:3")
    assert with_column.returncode == 0 and with_column.stdout
    assert with_column.stdout == without.stdout
