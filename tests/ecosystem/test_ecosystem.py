"""The table of repositories: what is counted, and what two runs differ in."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests import forked
from tools.ecosystem import __main__
from tools.ecosystem.repository import Repository
from tools.ecosystem.survey import Survey, as_data, look

from tapelint.engine.machine import Machine

ROOT = Path(__file__).resolve().parents[2]

SPOILED = "import torch\ny = torch.ones(3, requires_grad=True).exp()\ny += 1\ny.sum().backward()\n"
NET = (
    "import torch\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.fc = torch.nn.Linear(2, 1)\n    def forward(self, x):\n        return self.fc(x)\n"
    "def train(loader, thing):\n    net = Net()\n    for x in loader:\n        net(x).sum().backward()\n"
    "    thing.backward()\n"
)


def ecosystem(*arguments: str, status: int = 0) -> str:
    done = forked.run("tools.ecosystem", *arguments, cwd=ROOT, env=forked.variables())
    assert done.returncode == status, done.stderr
    return done.stdout


def folder(path: Path, **texts: str) -> str:
    path.mkdir()
    for name, text in texts.items():
        (path / f"{name}.py").write_text(text)
    return str(path)


def row(out: str, name: str) -> dict[str, str]:
    head, _, *rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in out.splitlines()]
    return next(dict(zip(head, cells)) for cells in rows if cells[0] == name)


def test_a_row_for_each_repository(tmp_path: Path) -> None:
    """Files, what was reached, and what was found."""
    out = ecosystem(folder(tmp_path / "one", net=NET, plain="x = 1\n"), folder(tmp_path / "two", bad=SPOILED))
    one, two = row(out, "one"), row(out, "two")
    assert one["files (torch)"] == "2 (1)" and two["files (torch)"] == "1 (1)"
    assert (one["backward"], one["known root"]) == ("2", "50 %")
    assert (one["forward"], one["to the end"]) == ("1", "100 %")
    assert (one["e / w / i / h"], one["rules"]) == ("0 / 0 / 0 / 0", "-")
    assert (two["e / w / i / h"], two["rules"]) == ("1 / 0 / 0 / 0", "TL201 1")


def test_entry_points_out_of_fuel_are_counted(tmp_path: Path) -> None:
    """Entry points and files; that is no failure."""
    long = f"    n = {' + '.join(['n'] * 60)}\n"
    found = row(ecosystem(folder(tmp_path / "one", cut=f"import torch\ndef f(n):\n{long * 400}", a=NET)), "one")
    assert (found["cut"], found["files cut"], found["faults"]) == ("1 (25 %)", "50 %", "0")


@pytest.mark.parametrize("against", [False, True])
def test_a_fault_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], against: bool
) -> None:
    """It is printed with file, entry point, exception and frame, and the rest is surveyed."""

    def lookup(self: Machine, state: object, name: str) -> object:
        if name == "broken":
            raise ZeroDivisionError("by nothing")
        return plain(self, state, name)

    plain = Machine.lookup
    monkeypatch.setattr(Machine, "lookup", lookup)
    monkeypatch.setattr(__main__, "survey", lambda which, roots: look(Path(where), which.name))
    where, kept = folder(tmp_path / "one", a=SPOILED, b="import torch\ndef train(x):\n    broken\n"), tmp_path / "kept"
    arguments = ["--against", str(kept)] if against else ["--json", str(kept)]
    if against:
        kept.write_text(json.dumps([as_data(look(Path(where), "one"))]))
    monkeypatch.setattr(sys, "argv", ["ecosystem", where, *arguments])
    assert __main__.main() == 1
    out = capsys.readouterr().out
    assert "one: b.py: Internal error: `train` (line 2) could not be followed to the end: ZeroDivisionError" in out
    assert "by nothing (engine/machine.py:" in out
    assert (row(out, "one")["faults"], row(out, "one")["rules"]) == ("1", "TL201 1")


def test_two_runs_are_compared(tmp_path: Path) -> None:
    """What vanished and what appeared, and an exit status that says so."""
    where, kept = folder(tmp_path / "one", a=SPOILED), str(tmp_path / "kept.json")
    ecosystem(where, "--json", kept)
    assert json.loads(Path(kept).read_text())[0]["findings"][0]["code"] == "TL201"
    assert "the same findings as before" in ecosystem(where, "--against", kept)
    Path(where, "a.py").write_text("# moved\n" + SPOILED)
    out = ecosystem(where, "--against", kept, status=1)
    assert "- one: a.py:3:1: error TL201" in out and "+ one: a.py:4:1: error TL201" in out


def test_a_commit_of_a_bare_repository(tmp_path: Path) -> None:
    """The files of a commit, without a work tree."""
    where = folder(tmp_path / "work", a=SPOILED)

    def git(*arguments: str) -> str:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
        return subprocess.run(command, cwd=where, capture_output=True, text=True, check=True).stdout.strip()

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    first = git("rev-parse", "--short", "HEAD")
    Path(where, "a.py").write_text("import torch\n")
    git("commit", "-q", "-a", "-m", "second")
    bare = str(tmp_path / "bare.git")
    git("clone", "-q", "--bare", ".", bare)
    out = ecosystem(f"then={bare}@{first}", f"now={bare}", "--findings")
    assert row(out.partition("\nthen:")[0], "then")["commit"] == first
    assert "then: a.py:3:1: error TL201" in out and "now: a.py" not in out


def test_missing_folders_are_reported(tmp_path: Path) -> None:
    """A wrong path is a usage error."""
    ecosystem(str(tmp_path / "nowhere"), status=2)


def test_an_interrupted_survey_keeps_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is written after each repository."""
    kept = tmp_path / "kept.json"

    def survey(which: Repository, roots: bool) -> Survey:
        if which.name == "two":
            raise KeyboardInterrupt
        return Survey(which.name, None)

    monkeypatch.setattr(__main__, "survey", survey)
    one, two = folder(tmp_path / "one", a=SPOILED), folder(tmp_path / "two", b=SPOILED)
    monkeypatch.setattr(sys, "argv", ["ecosystem", one, two, "--json", str(kept)])
    with pytest.raises(KeyboardInterrupt):
        __main__.main()
    assert [each["name"] for each in json.loads(kept.read_text())] == ["one"]


def test_causes_of_unknown_roots(tmp_path: Path) -> None:
    """From the root of a backward back to the first expression of which nothing is known."""
    text = "import torch\ndef train(batch, head):\n    h = batch['x']\n    loss = torch.exp(h)\n    loss.backward()\n"
    out = ecosystem(folder(tmp_path / "one", a=text), "--roots")
    _, chain = out.split("one: a.py:5:5: loss.backward()\n")
    assert [line.split(": ", 2)[2] for line in chain.splitlines()] == [
        "loss = a tensor of which is not known whether it carries a graph",
        "torch.exp(h) = a tensor of which is not known whether it carries a graph",
        "h = unknown",
        "batch['x'] = unknown",
        "batch = unknown",
    ]


def test_a_notebook_is_a_program(tmp_path: Path) -> None:
    """Its code cells are looked at, not its JSON."""
    folder(tmp_path / "one")
    cells = [{"cell_type": "code", "source": line + "\n"} for line in SPOILED.splitlines()]
    (tmp_path / "one" / "book.ipynb").write_text(json.dumps({"nbformat": 4, "cells": cells}))
    assert row(ecosystem(str(tmp_path / "one")), "one")["rules"] == "TL201 1"
