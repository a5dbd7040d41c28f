"""Cures that edit a file which the checked one imports: printed with that file, and never made by ``--fix``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from plain import Tapelint
from tests.shared_programs import KEEPING, STEPPING

FINISHING = "import torch\n\n\ndef finish(loss):\n    loss.backward()\n"
TWICE = """import torch
from net import finish

y = torch.ones(3, requires_grad=True).exp().sum()
finish(y)
finish(y)
"""
DETACHED = KEEPING.replace("(x, self.h)", "(x, self.h.detach())")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "net.py").write_text(KEEPING)
    (tmp_path / "main.py").write_text(STEPPING)
    return tmp_path


def test_the_title_and_the_rows_name_the_file(tapelint: Tapelint, project: Path) -> None:
    done = tapelint("check", "main.py")
    assert done.returncode == 1
    _, offer = done.stdout.split("\nfix: ")
    words = " ".join(offer.split())
    assert words.startswith("In net.py, detach ") and ". No gradient flows into earlier iterations." in words
    rows = ["11 |     def forward(self, x):", "   -         self.h = self.cell(x, self.h)"]
    rows += ["12 +         self.h = self.cell(x, self.h.detach())", "13 |         return self.h"]
    assert "\n".join(["  --> net.py:12:37", "   |", *rows, "   |"]) in offer


def test_json_names_the_file_of_each_edit(tapelint: Tapelint, project: Path) -> None:
    (found,) = json.loads(tapelint("check", "--output-format", "json", "main.py").stdout)
    (edit,) = found["fixes"][0]["edits"]
    assert (found["filename"], edit["filename"]) == ("main.py", "net.py")
    assert (edit["content"], edit["location"]) == (".detach()", {"row": 12, "column": 37})


def test_sarif_changes_the_other_artifact(tapelint: Tapelint, project: Path) -> None:
    (run,) = json.loads(tapelint("check", "--output-format", "sarif", "main.py").stdout)["runs"]
    (change,) = run["results"][0]["fixes"][0]["artifactChanges"]
    assert change["artifactLocation"] == {"uri": "net.py"}


def test_fix_leaves_it_to_the_check_of_that_file(tapelint: Tapelint, project: Path) -> None:
    assert tapelint("check", "--fix", "--unsafe-fixes", "main.py").returncode == 1
    assert ((project / "net.py").read_text(), (project / "main.py").read_text()) == (KEEPING, STEPPING)


def test_it_does_not_count_as_fixable(tapelint: Tapelint, project: Path) -> None:
    for form in ("full", "concise"):
        shown = tapelint("check", "--unsafe-fixes", "--output-format", form, "main.py").stdout
        assert "error[TL102] `" in shown and "fixable" not in shown and "available" not in shown
    counted = tapelint("check", "--statistics", "--unsafe-fixes", "main.py").stdout
    assert counted.startswith("1\tTL102\tgraph-carried-across-iterations\n") and "fixable" not in counted


def test_it_cures(tapelint: Tapelint, project: Path) -> None:
    (project / "net.py").write_text(DETACHED)
    assert tapelint("check", "main.py").returncode == 0


@pytest.mark.parametrize("place", ["excluded", "installed"])
def test_files_of_others_are_not_edited(tapelint: Tapelint, project: Path, place: str) -> None:
    if place == "excluded":
        (project / "pyproject.toml").write_text("[tool.tapelint]\nexclude = ['net.py']\n")
    else:
        (project / "node_modules").mkdir()
        (project / "net.py").rename(project / "node_modules" / "net.py")
        (project / "main.py").write_text(STEPPING.replace("from net", "from node_modules.net"))
    (found,) = json.loads(tapelint("check", "--output-format", "json", "main.py").stdout)
    assert found["code"] == "TL102" and not found["fixes"]


@pytest.mark.parametrize("files", [["main.py"], ["main.py", "net.py"]])
def test_what_stands_in_the_other_file_is_cured_there(tapelint: Tapelint, project: Path, files: list[str]) -> None:
    """Only main.py shows that it is called twice: net.py by itself has no finding and no cure."""
    (project / "net.py").write_text(FINISHING)
    (project / "main.py").write_text(TWICE)
    (found,) = json.loads(tapelint("check", "--output-format", "json", *files).stdout)
    assert (found["code"], found["filename"]) == ("TL101", "net.py")
    assert {edit["filename"] for fix in found["fixes"] for edit in fix["edits"]} == {"net.py"}
    shown = tapelint("check", *files).stdout
    assert shown.count("\nfix") == 1 and "In net.py" not in shown.split("\nfix")[1]
    assert "  -     loss.backward()\n5 +     loss.backward(retain_graph=True)\n" in shown


RETAINING = """def step(loss, opt):
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
"""
CARRYING = """import torch
from torch import nn
from net import step

cell = nn.GRUCell(4, 8)
opt = torch.optim.SGD(cell.parameters(), lr=0.1)
h = torch.zeros(2, 8)
for x in torch.randn(5, 2, 4):
    h = cell(x, h)
    step(h.mean(), opt)
"""


def test_a_cure_of_two_files_names_both(tapelint: Tapelint, project: Path) -> None:
    (project / "net.py").write_text(RETAINING)
    (project / "main.py").write_text(CARRYING)
    _, offer = tapelint("check", "main.py").stdout.split("\nfix: ")
    title, *rows = offer.partition("\nor:")[0].splitlines()
    assert f"{title} {rows[0].strip()}".startswith("In main.py and net.py, detach ")
    assert [row.strip() for row in rows if "-->" in row or "+" in row] == [
        "--> main.py:9:1",
        "9 +     h = h.detach()",
        "--> net.py:3:19",
        "3 +     loss.backward()",
    ]
