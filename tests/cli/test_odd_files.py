"""Files with odd names, links that go round in circles, files that go away while a run goes on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from plain import Tapelint

from tapelint.cli import file_check
from tapelint.cli.check import run
from tapelint.cli.chosen_files import Selection
from tapelint.cli.request import Request
from tapelint.output_formats import FORMATS

pytestmark = pytest.mark.skipif(os.name == "nt", reason="names and links of Unix")

BAD = """\
import torch
y = torch.ones(3, requires_grad=True).exp()
y += 1
y.sum().backward()
"""
NAMES = (
    "two words.py",
    "a\nb.py",
    "tab\t.py",
    "quote\"'.py",
    "größe 変数.py",
    "-o.py",
    "@at.py",
    "a:3.py",
    "100%25.py",
    "<&>.py",
)
LINES = ("concise", "pylint", "github", "azure", "json-lines")
"""Formats with a line for each finding or file."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in NAMES:
        (tmp_path / name).write_text(BAD)
    return tmp_path


@pytest.mark.parametrize("form", FORMATS)
def test_odd_names(tapelint: Tapelint, folder: Path, form: str) -> None:
    done = tapelint("check", "--output-format", form, ".")
    assert (done.returncode, done.stderr) == (1, "")
    if form in LINES:
        assert len(done.stdout.splitlines()) == len(NAMES)
    if form in ("json", "gitlab", "sarif", "rdjson"):
        assert done.stdout.count("TL201") >= len(NAMES) and json.loads(done.stdout)
    if form == "json":
        assert {each["filename"] for each in json.loads(done.stdout)} == {*NAMES}
    if form == "junit":
        suites = ElementTree.fromstring(done.stdout)
        assert len(suites.findall("testsuite")) == len(NAMES)


def test_odd_names_are_fixed(tapelint: Tapelint, folder: Path) -> None:
    done = tapelint("check", "--fix", ".")
    assert (done.returncode, done.stderr) == (0, "")
    assert {file.read_text() for file in folder.glob("*.py")} == {BAD.replace("y += 1", "y = y + 1")}


def test_folders_that_contain_themselves(tapelint: Tapelint, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.py").write_text(BAD)
    (tmp_path / "in" / "again").symlink_to("..", target_is_directory=True)
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    done = tapelint("check", "--output-format", "concise", ".")
    assert done.stdout.count("TL201") == 1 and done.stdout.startswith("in/a.py:3:1: ")
    assert (done.returncode, done.stderr) == (1, "")
    assert tapelint("check", "one").returncode == 2


@pytest.mark.parametrize("jobs", [1, 2])
def test_files_that_go_away_during_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], jobs: int
) -> None:
    names = [f"m{number:02}.py" for number in range(12)]
    for name in names:
        (tmp_path / name).write_text(BAD)
    monkeypatch.chdir(tmp_path)
    files: Any = Selection.files

    def found(self: Selection, named: str) -> Iterator[str]:
        """The files as they are found; one of them is gone when it is read."""
        yield from [*files(self, named)]
        (tmp_path / "m05.py").unlink(missing_ok=True)

    monkeypatch.setattr(Selection, "files", found)
    file_check._resolver.cache_clear()
    assert run(Request((".",), output_format="concise", jobs=jobs)) == 2
    printed = capsys.readouterr()
    assert [line.split(":")[0] for line in printed.out.splitlines()] == [name for name in names if name != "m05.py"]
    assert printed.err == "error: m05.py: cannot be read: No such file or directory\n"
