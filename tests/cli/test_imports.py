"""Programs of several files on the command line: where a hazard is reported, and that it is reported once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

HELPERS = """import torch


def finish(loss):
    loss.backward()


def twice():
    y = torch.ones(3, requires_grad=True).exp().sum()
    y.backward()
    y.backward()
"""
MAIN = """import torch
from helpers import finish

y = torch.ones(3, requires_grad=True).exp().sum()
finish(y)
finish(y)
"""
USER = """import torch
from helpers import twice

twice()
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "helpers.py").write_text(HELPERS)
    (tmp_path / "main.py").write_text(MAIN)
    return tmp_path


def found(done) -> list[tuple[str, int, str]]:
    return [(item["filename"], item["location"]["row"], item["code"]) for item in json.loads(done.stdout)]


def test_an_error_through_an_import_is_reported_at_the_call(project: Path, tapelint) -> None:
    done = tapelint("check", "main.py", "--output-format", "json")
    assert found(done) == [("main.py", 6, "TL101")], "the helper's own hazard is not called"
    (item,) = json.loads(done.stdout)
    assert "line 5 of helpers.py" in item["message"]
    last = item["related"][-1]
    assert (last["filename"], last["location"]["row"]) == ("helpers.py", 5)
    assert not any("backward(" in edit["content"] for fix in item["fixes"] for edit in fix["edits"])


def test_the_story_shows_the_other_file(project: Path, tapelint) -> None:
    lines = [line.rstrip() for line in tapelint("check", "main.py").stdout.splitlines()]
    at = lines.index(" --> helpers.py:5:5")
    assert lines[at + 2] == "5 |     loss.backward()"


def test_an_error_of_the_imported_file_is_reported_there(project: Path, tapelint) -> None:
    (project / "main.py").write_text(USER)
    helpers = tapelint("check", "helpers.py", "--output-format", "json")
    both = tapelint("check", ".", "--output-format", "json")
    assert found(both) == found(helpers) == [("helpers.py", 11, "TL101")]


def test_a_suppression_in_the_imported_file(project: Path, tapelint) -> None:
    silenced = HELPERS.replace("    loss.backward()", "    loss.backward()  # noqa: TL101")
    (project / "helpers.py").write_text(silenced)
    assert found(tapelint("check", "main.py", "--output-format", "json")) == []


def test_a_script_that_never_mentions_torch(project: Path, tapelint) -> None:
    (project / "main.py").write_text("from helpers import finish\nfrom data import y\n\nfinish(y)\nfinish(y)\n")
    (project / "data.py").write_text("import torch\n\ny = torch.ones(3, requires_grad=True).exp().sum()\n")
    assert found(tapelint("check", "main.py", "--output-format", "json")) == [("main.py", 5, "TL101")]


def test_imports_resolve_from_another_working_directory(project: Path, tapelint) -> None:
    (project / "pyproject.toml").touch()
    (project / "tools").mkdir()
    (project / "main.py").rename(project / "tools" / "main.py")
    assert found(tapelint("check", "tools", "--output-format", "json")) == [("tools/main.py", 6, "TL101")]


def test_files_that_import_each_other(project: Path, tapelint) -> None:
    (project / "helpers.py").write_text("import main\n" + HELPERS)
    done = tapelint("check", "main.py", "--output-format", "json")
    assert done.stderr == ""
    assert ("main.py", 6, "TL101") in found(done)


def test_imports_resolve_in_worker_processes(project: Path, tapelint) -> None:
    for number in range(12):
        (project / f"main{number}.py").write_text(MAIN)
    done = tapelint("check", ".", "--jobs", "2", "--select", "TL101", "--output-format", "json")
    mains = [name for name, _, _ in found(done) if name.startswith("main")]
    assert len(mains) == len(set(mains)) == 13
