"""A file is judged with the files that use it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

HELPER = """import torch


def finish(loss):
    loss.backward()
"""
USER = """import torch
import helper


def test_finish():
    y = torch.ones(3, requires_grad=True).exp().sum()
    helper.finish(y)
    helper.finish(y)


def test_other():
    y = torch.ones(3, requires_grad=True).exp().sum()
    y.backward()
    y.backward()
"""
SCRIPT = """import torch
import helper
y = torch.ones(3, requires_grad=True).exp().sum()
helper.finish(y)
helper.finish(y)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_helper.py").write_text(USER)
    return tmp_path


def found(done) -> list[tuple[str, int, str]]:
    return [(item["filename"], item["location"]["row"], item["code"]) for item in json.loads(done.stdout)]


def test_what_a_test_shows_in_a_file_is_reported_there(project: Path, tapelint) -> None:
    done = tapelint("check", "helper.py", "--output-format", "json")
    assert found(done) == [("helper.py", 5, "TL101")], "what stands in the test belongs to the test"
    (item,) = json.loads(done.stdout)
    assert {"kind": "called", "text": "where line 8 of test_helper.py calls it"} in item["rests_on"]
    assert item["severity"] == "information", "no more than that a test does it: without the test nothing is known"
    assert {"kind": "tested", "text": "a test does this"} in item["rests_on"]
    assert item["related"][-1]["filename"] == "tests/test_helper.py"
    assert tapelint("check", "helper.py").stdout.endswith("Found 1 information in 1 file.\n")


def test_what_a_script_shows_in_a_file_is_an_error_there(project: Path, tapelint) -> None:
    (project / "tests" / "test_helper.py").unlink()
    (project / "train.py").write_text(SCRIPT)
    (item,) = json.loads(tapelint("check", "helper.py", "--output-format", "json").stdout)
    assert (item["code"], item["severity"]) == ("TL101", "error")
    assert {"kind": "called", "text": "where line 5 of train.py calls it"} in item["rests_on"]


def test_all_files_show_the_same(project: Path, tapelint) -> None:
    done = tapelint("check", ".", "--output-format", "json")
    assert found(done) == [("helper.py", 5, "TL101"), ("tests/test_helper.py", 14, "TL101")]


@pytest.mark.parametrize("where", ["tapelint.toml", "pyproject.toml"])
def test_callers_can_be_left_out(project: Path, tapelint, where: str) -> None:
    head = "" if where == "tapelint.toml" else "[tool.tapelint]\n"
    (project / where).write_text(f"{head}callers = false\n")
    assert found(tapelint("check", "helper.py", "--output-format", "json")) == []
    (project / where).write_text(f"{head}callers = 1\n")
    assert "callers must be true or false" in tapelint("check", "helper.py").stderr


def test_a_comment_that_silences_what_a_caller_shows_is_used(project: Path, tapelint) -> None:
    silenced = HELPER.replace("    loss.backward()", "    loss.backward()  # noqa: TL101")
    (project / "helper.py").write_text(silenced)
    assert found(tapelint("check", "helper.py", "--extend-select", "TL9", "--output-format", "json")) == []


def test_a_caller_that_cannot_be_read_is_none(project: Path, tapelint) -> None:
    (project / "tests" / "test_helper.py").write_text(f"{USER}\ndef broken(:\n")
    (project / "tests" / "test_more.py").write_bytes(b"import helper\nhelper.finish('\xff')\n")
    done = tapelint("check", "helper.py", "--output-format", "json")
    assert done.stderr == ""
    assert done.returncode == 0


def test_what_a_caller_lacks_is_not_said_of_the_file(project: Path, tapelint) -> None:
    (project / "helper.py").write_text(f"{HELPER}\nprint(finish(torch.ones(3, requires_grad=True).sum()))\n")
    done = tapelint("check", "helper.py", "--stats")
    assert "entries: 1" in done.stderr.splitlines()


def test_fixes_are_made_in_the_files_that_were_named(project: Path, tapelint) -> None:
    before = (project / "tests" / "test_helper.py").read_text()
    tapelint("check", "helper.py", "--fix", "--unsafe-fixes")
    assert (project / "tests" / "test_helper.py").read_text() == before


def test_the_search_for_callers_does_not_load_jedi(project: Path, tapelint) -> None:
    script = "import sys\nsys.path.insert(0, 'lib')\nfrom lib.helper import finish\nfinish(1)\n"
    (project / "run.py").write_text(script)
    done = tapelint("check", "helper.py", PYTHONPROFILEIMPORTTIME="1")
    assert "tapelint.workspace.mentions" in done.stderr
    assert "jedi" not in done.stderr
