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


def test_an_error_through_an_import_is_reported_where_it_stands(project: Path, tapelint) -> None:
    done = tapelint("check", "main.py", "--output-format", "json")
    assert found(done) == [("helpers.py", 5, "TL101")], "the helper's own hazard is not called"
    (item,) = json.loads(done.stdout)
    assert {"kind": "called", "text": "where line 6 of main.py calls it"} in item["rests_on"]
    last = item["related"][-1]
    assert (last["filename"], last["location"]["row"], last["message"]) == ("main.py", 6, "This call leads here")
    assert {edit["filename"] for fix in item["fixes"] for edit in fix["edits"]} == {"helpers.py"}


def test_an_excluded_file_is_reported_at_the_call(project: Path, tapelint) -> None:
    (project / "tapelint.toml").write_text('exclude = ["helpers.py"]\n')
    done = tapelint("check", "main.py", "--output-format", "json")
    assert found(done) == [("main.py", 6, "TL101")]
    (item,) = json.loads(done.stdout)
    assert any("line 5 of helpers.py" in ground["text"] for ground in item["rests_on"])
    last = item["related"][-1]
    assert (last["filename"], last["location"]["row"]) == ("helpers.py", 5)
    assert not any("backward(" in edit["content"] for fix in item["fixes"] for edit in fix["edits"])


@pytest.mark.parametrize("folder", [".venv", "node_modules", "site-packages"])
def test_the_code_of_others_is_reported_at_the_call(project: Path, tapelint, folder: str) -> None:
    (project / folder).mkdir()
    (project / "helpers.py").rename(project / folder / "helpers.py")
    path = f"import sys\nsys.path.insert(0, {folder!r})\n"
    (project / "main.py").write_text(path + MAIN)
    assert {name for name, *_ in found(tapelint("check", "main.py", "--output-format", "json"))} <= {"main.py"}


def test_the_story_shows_both_files(project: Path, tapelint) -> None:
    lines = [line.rstrip() for line in tapelint("check", "--story", "main.py").stdout.splitlines()]
    at = lines.index(" --> helpers.py:5:5")
    assert lines[at + 3] == "5 |     loss.backward()"
    at = lines.index(" --> main.py:6:1")
    assert lines[at + 2] == "6 | finish(y)"


@pytest.mark.parametrize("output_format", ["concise", "github", "gitlab", "sarif"])
def test_every_format_names_the_file_it_stands_in(project: Path, tapelint, output_format: str) -> None:
    said = tapelint("check", "main.py", "--output-format", output_format).stdout
    match output_format:
        case "concise":
            assert said.startswith("helpers.py:5:5: error[TL101] ")
        case "github":
            assert ",file=helpers.py,line=5," in said
        case "gitlab":
            (entry,) = json.loads(said)
            assert entry["location"] == {"path": "helpers.py", "lines": {"begin": 5, "end": 5}}
        case _:
            (result,) = json.loads(said)["runs"][0]["results"]
            place = result["locations"][0]["physicalLocation"]
            assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("helpers.py", 5)
            steps = [each["location"] for each in result["codeFlows"][0]["threadFlows"][0]["locations"]]
            assert steps[-1]["physicalLocation"]["artifactLocation"]["uri"] == "main.py"


def test_several_callers_show_a_hazard_once(project: Path, tapelint) -> None:
    for number in range(12):
        (project / f"user{number}.py").write_text(MAIN)
    one = tapelint("check", ".", "--jobs", "1", "--output-format", "json")
    two = tapelint("check", ".", "--jobs", "2", "--output-format", "json")
    assert one.stdout == two.stdout
    assert found(one) == [("helpers.py", 5, "TL101"), ("helpers.py", 11, "TL101")]


def test_ignores_of_the_file_it_stands_in(project: Path, tapelint) -> None:
    (project / "tapelint.toml").write_text('[per-file-ignores]\n"helpers.py" = ["TL101"]\n')
    assert found(tapelint("check", "main.py", "--output-format", "json")) == []
    (project / "tapelint.toml").write_text('[per-file-ignores]\n"main.py" = ["TL101"]\n')
    assert found(tapelint("check", "main.py", "--output-format", "json")) == [("helpers.py", 5, "TL101")]


def test_a_notebook_leads_into_a_file(project: Path, tapelint) -> None:
    cell = {"cell_type": "code", "source": MAIN, "metadata": {}, "outputs": [], "execution_count": None}
    book = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (project / "look.ipynb").write_text(json.dumps(book))
    done = tapelint("check", "look.ipynb", "--select", "TL101", "--output-format", "json")
    (item,) = json.loads(done.stdout)
    assert (item["filename"], item["location"]["row"]) == ("helpers.py", 5)
    assert "cell" not in item["location"]
    assert item["related"][-1]["location"] == {"cell": 1, "row": 6, "column": 1}


def test_a_fix_of_the_file_it_stands_in_counts(project: Path, tapelint) -> None:
    fixable = HELPERS.replace("    y.backward()\n    y.backward()", "    y.backward()\n    y.backward()\n    return y")
    (project / "helpers.py").write_text(fixable)
    tapelint("check", "main.py", "helpers.py", "--fix", "--unsafe-fixes")
    after = (project / "helpers.py").read_text()
    row = 1 + after.splitlines().index("    loss.backward()")
    assert after != fixable
    assert ("helpers.py", row, "TL101") in found(tapelint("check", "main.py", "--output-format", "json"))


def test_an_error_of_the_imported_file_is_reported_there(project: Path, tapelint) -> None:
    (project / "main.py").write_text(USER)
    helpers = tapelint("check", "helpers.py", "--output-format", "json")
    both = tapelint("check", ".", "--output-format", "json")
    assert found(both) == found(helpers) == [("helpers.py", 11, "TL101")]


def test_a_suppression_at_the_call(project: Path, tapelint) -> None:
    (project / "main.py").write_text(f"{MAIN.rstrip()}  # noqa: TL101\n")
    assert found(tapelint("check", "main.py", "--extend-select", "TL9", "--output-format", "json")) == []


def test_a_suppression_in_the_imported_file(project: Path, tapelint) -> None:
    silenced = HELPERS.replace("    loss.backward()", "    loss.backward()  # noqa: TL101")
    (project / "helpers.py").write_text(silenced)
    assert found(tapelint("check", "main.py", "--output-format", "json")) == []


def test_a_script_that_never_mentions_torch(project: Path, tapelint) -> None:
    (project / "main.py").write_text("from helpers import finish\nfrom data import y\n\nfinish(y)\nfinish(y)\n")
    (project / "data.py").write_text("import torch\n\ny = torch.ones(3, requires_grad=True).exp().sum()\n")
    assert found(tapelint("check", "main.py", "--output-format", "json")) == [("helpers.py", 5, "TL101")]


def test_imports_resolve_from_another_working_directory(project: Path, tapelint) -> None:
    (project / "pyproject.toml").touch()
    (project / "tools").mkdir()
    (project / "main.py").rename(project / "tools" / "main.py")
    assert found(tapelint("check", "tools", "--output-format", "json")) == [("helpers.py", 5, "TL101")]


def test_files_that_import_each_other(project: Path, tapelint) -> None:
    (project / "helpers.py").write_text("import main\n" + HELPERS)
    done = tapelint("check", "main.py", "--output-format", "json")
    assert done.stderr == ""
    assert ("helpers.py", 6, "TL101") in found(done)


def test_a_loop_or_a_test_in_another_file_is_quoted_and_has_no_row(tmp_path: Path, tapelint) -> None:
    (tmp_path / "helpers.py").write_text("""import os


def train(loss):
    if os.environ.get("TAPELINT_TEST_RESUME_FROM_THE_LAST_CHECKPOINT", "") not in ("", "no"):
        for _ in range(3):
            loss.backward()
""")
    (tmp_path / "main.py").write_text("""import torch
from helpers import train

train(torch.ones(3, requires_grad=True).exp().sum())
""")
    (item,) = json.loads(tapelint("check", "main.py", "--output-format", "json").stdout)
    assert {"kind": "ordinary", "text": "`for _ in range(3)` runs at least twice"} in item["rests_on"]
    quoted = "`os.environ.get('TAPELINT_TEST_RESUME_FROM_THE_LAST_CHECK ...` is true"
    assert {"kind": "chosen", "text": quoted} in item["rests_on"]


STEPS = """class Step:
    def __init__(self, net, opt):
        self.net, self.opt, self.total = net, opt, 0

    def __call__(self, engine, batch):
        self.opt.zero_grad()
        self.total = self.total + self.net(batch).pow(2).mean()
        self.total.backward()
        self.opt.step()
"""
ENGINE = """import torch
from ignite.engine import Engine
from steps import Step

net = torch.nn.Linear(4, 1)
step = Step(net, torch.optim.SGD(net.parameters(), lr=0.1))
Engine(step).run([torch.randn(2, 4)] * 3, max_epochs=2)
"""


def test_no_step_of_a_story_lies_in_the_model_of_a_library(tmp_path: Path, tapelint) -> None:
    (tmp_path / "steps.py").write_text(STEPS)
    (tmp_path / "main.py").write_text(ENGINE)
    done = tapelint("check", "main.py", "--output-format", "json")
    assert found(done) == [("steps.py", 8, "TL102")]
    (item,) = json.loads(done.stdout)
    assert {step["filename"] for step in item["related"]} == {"main.py", "steps.py"}
    assert ("main.py", 7) in [(step["filename"], step["location"]["row"]) for step in item["related"]]
