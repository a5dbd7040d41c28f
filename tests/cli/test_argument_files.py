"""``tapelint check @FILE``: arguments from a file, one on each line, as ruff reads them."""

from __future__ import annotations

import os

import pytest
from plain import Plain

BAD = """\
import torch
y = torch.ones(3, requires_grad=True).exp()
y += 1
y.sum().backward()
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_one_argument_a_line(plain: Plain, end: str) -> None:
    for name in ("a.py", "two words.py", "@c.py", "other.py"):
        plain.write(name, BAD)
    plain.write("more", "a.py\n")
    (plain.folder / "args").write_text(
        end.join(["--output-format", "concise", "--select=TL201", "two words.py", "@more", ""]), newline=""
    )
    done = plain("check", "@args", "@c.py")
    assert (done.returncode, done.stderr) == (1, "")
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["two words.py", "a.py", "@c.py"]


def test_the_command_and_what_stands_after_dashes(plain: Plain) -> None:
    plain.write("a.py", BAD)
    plain.write("args", "check\n--output-format=concise\n@files\n")
    plain.write("files", "--\na.py")
    assert plain("@args").stdout.startswith("a.py:3:1: ")
    assert plain("check", "--", "@files").returncode == 2  # a second `--` is a name: there is no such file


def test_names_that_are_no_utf8(plain: Plain) -> None:
    name = b"caf\xe9.py"
    for path, text in ((name, BAD.encode()), (b"args", name + b"\n")):
        with open(os.path.join(os.fsencode(plain.folder), path), "wb") as file:
            file.write(text)
    done = plain("check", "--output-format=concise", "@args")
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("@nowhere", "@nowhere: cannot be read: No such file or directory"),
        ("@.", "@.: cannot be read: Is a directory"),
        ("@", "@: cannot be read: No such file or directory"),
        ("@loop", "@loop: names itself"),
        ("@circle", "@loop: names itself"),
    ],
)
def test_a_file_that_cannot_be_used(plain: Plain, argument: str, words: str) -> None:
    plain.write("loop", "@loop\n")
    plain.write("circle", "a.py\n@loop\n")
    done = plain("check", argument)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"Error: {words}\n")


def test_an_empty_line_is_an_empty_argument(plain: Plain) -> None:
    plain.write("a.py", BAD)
    plain.write("args", "a.py\n\n")
    done = plain("check", "--output-format=concise", "@args")
    assert (done.returncode, done.stderr) == (2, "error: '': no such file or folder\n")
    assert done.stdout.startswith("a.py:3:1: ")
