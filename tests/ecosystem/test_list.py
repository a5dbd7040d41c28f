"""The list of repositories: where their files come from, and what a run says that differs from it."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests import forked, in_process
from tools.ecosystem import checked, clones, pins
from tools.ecosystem.checked import Checked, Lines, Listed, Place, take
from tools.ecosystem.clones import Unreachable, tree
from tools.ecosystem.counts import table
from tools.ecosystem.known import Means, run
from tools.ecosystem.pins import Pin, sample
from tools.ecosystem.settings import Malformed
from tools.ecosystem.verdicts import Judged, Known, Verdict, compare, file_of, load, text_of

SPOILED = "import torch\ny = torch.ones(3, requires_grad=True).exp()\ny += 1\ny.sum().backward()\n"
FINE = "import torch\ntorch.ones(3, requires_grad=True).sum().backward()\n"


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line need not start Python, but where it is to be ended at once."""

    def run(command: list[str], *, cwd: Path, env: dict[str, str], timeout: float, **how: Any) -> Any:
        if timeout < 1:
            return subprocess.run(command, cwd=cwd, env=env, timeout=timeout, **how)
        return in_process.run(*command[3:], cwd=cwd, env=env)

    monkeypatch.setattr(checked, "subprocess", SimpleNamespace(**{**vars(subprocess), "run": run}))


def git(where: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
    return subprocess.run(command, cwd=where, capture_output=True, text=True, check=True).stdout.strip()


def upstream(where: Path, **texts: str) -> str:
    """Make a repository, or one more commit in it; the commit."""
    if not where.is_dir():
        where.mkdir(parents=True)
        git(where, "init", "-q")
        git(where, "config", "uploadpack.allowAnySHA1InWant", "true")
        git(where, "config", "uploadpack.allowFilter", "true")
    for name, text in texts.items():
        (where / f"{name}.py").write_text(text)
    git(where, "add", ".")
    git(where, "commit", "-q", "-m", "as it is now")
    return git(where, "rev-parse", "HEAD")


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def github(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that git takes for GitHub, and an empty cache."""
    host = tmp_path / "github"
    host.mkdir()
    settings = {"KEY_0": f"url.{host.as_uri()}/.insteadOf", "VALUE_0": "https://github.com/", "COUNT": "1"}
    for name, value in settings.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    monkeypatch.setattr(clones, "CACHE", tmp_path / "cache")
    return host


def test_a_commit_is_fetched_once(github: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At its commit, whatever the branch says now, and without asking the host again."""
    first = upstream(github / "a" / "b", old=SPOILED)
    upstream(github / "a" / "b", new=FINE)
    pin = Pin("a/b", first)
    with tree(pin, None) as folder:
        assert files(folder) == ["old.py"] and (folder / "old.py").read_text() == SPOILED
    monkeypatch.setattr(clones, "HOST", "file:///nowhere")
    with tree(pin, None) as folder:
        assert files(folder) == ["old.py"]
    assert not folder.exists()


def test_only_what_says_something_about_programs_is_written(github: Path) -> None:
    """No pictures, no links, and nothing is left out or converted that attributes of the repository name."""
    where = github / "a" / "b"
    commit = upstream(where, kept="import torch\r\n")
    (where / "image.png").write_bytes(b"\0")
    (where / "link.py").symlink_to("kept.py")
    (where / "run.yaml").write_text("lr: 1\n")
    (where / ".gitattributes").write_text("*.py export-ignore text eol=lf\n")
    commit = upstream(where)
    with tree(Pin("a/b", commit), None) as folder:
        assert files(folder) == ["kept.py", "run.yaml"]


def test_a_repository_that_is_not_there(github: Path) -> None:
    """Git's own words, and nothing stays in the cache; a commit that is missing is the same."""
    commit = upstream(github / "a" / "b", x=FINE)
    for pin in (Pin("a/gone", commit), Pin("a/b", "0" * 40)):
        with pytest.raises(Unreachable, match="fatal:|error:"), tree(pin, None):
            pass
        assert not list(clones.CACHE.iterdir())


@pytest.mark.parametrize("name", ["a/b", "a+b", "b", "b.git", "a+b/repo"])
@pytest.mark.parametrize("bare", [False, True])
def test_clones_come_first(github: Path, tmp_path: Path, name: str, bare: bool) -> None:
    """A checkout or a bare repository under any of its names, if it has the commit."""
    commit = upstream(github / "a" / "b", x=SPOILED)
    made = tmp_path / "clones" / name
    made.parent.mkdir(parents=True)
    git(tmp_path, "clone", "-q", *(["--bare"] if bare else []), str(github / "a" / "b"), str(made))
    (github / "a").rename(github / "c")
    with tree(Pin("a/b", commit), tmp_path / "clones") as folder:
        assert files(folder) == ["x.py"]
    with pytest.raises(Unreachable), tree(Pin("a/b", "1" * 40), tmp_path / "clones"):
        pass


def test_plain_files_are_copied(tmp_path: Path) -> None:
    """Of a folder without a git directory the commit is not known."""
    made = tmp_path / "a" / "b"
    made.mkdir(parents=True)
    (made / "x.py").write_text(SPOILED)
    (made / "image.png").write_bytes(b"\0")
    with tree(Pin("a/b", "0" * 40), tmp_path) as folder:
        assert folder != made and files(folder) == ["x.py"]


def test_the_sample_is_stable(tmp_path: Path) -> None:
    """Files that go backward first; another file changes it by one at most, and a larger bound only adds."""
    for index in range(20):
        (tmp_path / f"m{index}.py").write_text("import torch\n" + "loss.backward()\n" * (index < 4))
    (tmp_path / "other.py").write_text("import numpy\n")
    few, more = (sample(Pin("a/b", "", count), tmp_path) for count in (8, 12))
    assert few.total == 20 and {f"m{index}.py" for index in range(4)} < set(few.files) < set(more.files)
    (tmp_path / "m99.py").write_text("import torch\n")
    assert len(set(few.files) - set(sample(Pin("a/b", "", 8), tmp_path).files)) <= 1
    chosen = sample(Pin("a/b", "", 60, only=("m1*",), exclude=("*9.py",)), tmp_path).files
    assert chosen == ("m1.py", *(f"m1{digit}.py" for digit in range(9)))


@pytest.fixture
def listed(github: Path, tmp_path: Path) -> tuple[list[Pin], Path]:
    """Two repositories, of which one has a finding, and the folder for the list."""
    one, two = upstream(github / "a" / "one", x=SPOILED), upstream(github / "a" / "two", x=FINE)
    return [Pin("a/one", one), Pin("a/two", two)], tmp_path / "findings"


def judge(pin: Pin, folder: Path, verdict: str, **changes: str) -> None:
    """Let a reader write a verdict, and change other words of the file."""
    path = file_of(pin, folder)
    text = path.read_text().replace('verdict = "unread"', f'verdict = "{verdict}"\nwhy = "read"')
    for old, new in changes.items():
        text = text.replace(f'{old} = "', f'{old} = "{new}')
    path.write_text(text)


def test_what_appeared_is_unread_until_it_is_judged(
    listed: tuple[list[Pin], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """The list is written by --update only; afterwards nothing differs."""
    wanted, folder = listed
    assert run(wanted, Means(), folder=folder) == 1
    assert "+ a/one: x.py:3: error TL201 " in capsys.readouterr().out
    assert not folder.exists()
    assert run(wanted, Means(jobs=2), update=True, folder=folder) == 0
    found = load(file_of(wanted[0], folder))
    assert [(each.code, each.severity, each.verdict) for each in found.findings] == [("TL201", "error", Verdict.UNREAD)]
    assert (found.files, found.total) == (1, 1) and not load(file_of(wanted[1], folder)).findings
    capsys.readouterr()
    assert run(wanted, Means(), folder=folder) == 0
    out = capsys.readouterr().out
    assert "2 repositories; findings: 1 stayed, 0 appeared, 0 vanished" in out and len(out.splitlines()) == 1


def test_verdicts_survive_an_update(listed: tuple[list[Pin], Path], github: Path) -> None:
    """Of a finding that is still there, although its row is another one at the new commit."""
    wanted, folder = listed
    run(wanted, Means(), update=True, folder=folder)
    judge(wanted[0], folder, "true")
    moved = Pin("a/one", upstream(github / "a" / "one", x="# moved\n" + SPOILED))
    assert run([moved], Means(), update=True, folder=folder) == 0
    (found,) = load(file_of(moved, folder)).findings
    assert (found.place, found.verdict, found.why) == (Place("x.py", 0, 4), Verdict.TRUE, "read")


def test_what_vanished_is_said_with_its_verdict(
    listed: tuple[list[Pin], Path], github: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And leaves the list with the next update."""
    wanted, folder = listed
    run(wanted, Means(), update=True, folder=folder)
    judge(wanted[0], folder, "false")
    cured = Pin("a/one", upstream(github / "a" / "one", x=FINE))
    assert run([cured], Means(), folder=folder) == 1
    assert "- a/one: x.py:3: error TL201, false: read" in capsys.readouterr().out
    assert run([cured], Means(), update=True, folder=folder) == 0 and not load(file_of(cured, folder)).findings


@pytest.mark.parametrize("verdict, status", [("false", 1), ("arguable", 0)])
def test_another_severity_is_said(
    listed: tuple[list[Pin], Path], capsys: pytest.CaptureFixture[str], verdict: str, status: int
) -> None:
    """The run fails if what does not hold is an error now."""
    wanted, folder = listed
    run(wanted, Means(), update=True, folder=folder)
    judge(wanted[0], folder, verdict)
    path = file_of(wanted[0], folder)
    path.write_text(path.read_text().replace('severity = "error"', 'severity = "warning"'))
    assert run(wanted, Means(), folder=folder) == status
    assert f"~ a/one: x.py:3: warning TL201 is error now, {verdict}: read" in capsys.readouterr().out


def test_what_cannot_be_fetched_is_skipped_and_said(
    listed: tuple[list[Pin], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Its part of the list stays as it is; without any repository the run is no success."""
    wanted, folder = listed
    run(wanted, Means(), update=True, folder=folder)
    before = file_of(wanted[0], folder).read_text()
    gone = Pin("a/one", "0" * 40)
    assert run([gone, wanted[1]], Means(), update=True, folder=folder) == 0
    out = capsys.readouterr().out
    assert "! a/one: skipped, it cannot be fetched: " in out and "1 skipped" in out
    assert file_of(gone, folder).read_text() == before
    assert run([gone], Means(), folder=folder) == 2


def test_a_repository_that_takes_too_long(listed: tuple[list[Pin], Path], capsys: pytest.CaptureFixture[str]) -> None:
    """It is said, the run fails, and nothing is taken to have vanished."""
    wanted, folder = listed
    run(wanted, Means(), update=True, folder=folder)
    assert run(wanted, Means(timeout=0.01), update=True, folder=folder) == 1
    assert (
        "! a/one: not finished after 0.01 seconds" in capsys.readouterr().out
        and load(file_of(wanted[0], folder)).findings
    )


def test_a_notebook_counts_cells(github: Path, tmp_path: Path) -> None:
    """The digest is that of the line in its cell."""
    where = github / "a" / "b"
    upstream(where, plain=FINE)
    cells = [{"cell_type": "markdown", "source": ["words"]}]
    cells += [{"cell_type": "code", "source": text} for text in (["import torch\n"], SPOILED.splitlines(keepends=True))]
    (where / "book.ipynb").write_text(json.dumps({"nbformat": 4, "cells": cells}))
    pin = Pin("a/b", upstream(where))
    assert run([pin], Means(), update=True, folder=tmp_path / "findings") == 0
    (found,) = load(file_of(pin, tmp_path / "findings")).findings
    assert found.place == Place("book.ipynb", 3, 3) and str(found.place) == "book.ipynb:cell 3:3"
    assert found.digest == hashlib.sha256(b"y += 1").hexdigest()[:8]


def test_what_was_not_seen_is_no_finding(tmp_path: Path) -> None:
    """Of the notices only internal errors are kept; hints are counted."""
    (tmp_path / "a.py").write_text("x\ny\n")

    def said(code: str, severity: str) -> dict[str, object]:
        place = {"row": 2, "column": 1}
        return {"code": code, "severity": severity, "message": "words", "filename": "a.py", "location": place}

    found = Checked()
    kinds = (("TL911", "hint"), ("TL913", "warning"), ("TL912", "warning"), ("TL104", "hint"), ("TL201", "error"))
    take(found, [said(*kind) for kind in kinds], Lines(tmp_path))
    assert (found.hints, found.faults, [each.code for each in found.findings]) == (1, ["a.py: words"], ["TL201"])


def test_each_finding_has_one_partner() -> None:
    """Two findings on lines of the same text: the one in place keeps its verdict, the other goes to the nearest."""

    def old(line: int, verdict: Verdict) -> Judged:
        return Judged(Place("a.py", 0, line), "TL201", "error", "d", verdict, "read")

    def new(line: int) -> Listed:
        return Listed(Place("a.py", 0, line), "TL201", "error", "d", "message")

    compared = compare([old(3, Verdict.TRUE), old(9, Verdict.FALSE)], [new(9), new(12)])
    assert [(judged.verdict, listed.place.line) for judged, listed in compared.stayed] == [
        (Verdict.TRUE, 12),
        (Verdict.FALSE, 9),
    ]
    compared = compare([old(3, Verdict.TRUE)], [new(1), new(4)])
    assert [listed.place.line for listed in compared.appeared] == [1] and not compared.vanished


@pytest.mark.parametrize(
    "text, message",
    [
        ('[[repository]]\nname = "a/b"\ncommit = "abc"\n', "commit of 40 digits"),
        ('[[repository]]\nname = "a/b"\n', "`commit` must be str, not None"),
        ('[[repository]]\nname = "a/b"\ncomit = ""\n', "unknown key: comit"),
        ("[[repository]\n", "not valid TOML"),
        ("repository = 3\n", "array of tables"),
        (f'[[repository]]\nname = "a/b"\ncommit = "{"0" * 40}"\n' * 2, "a/b is there twice"),
    ],
)
def test_a_list_that_is_not_as_it_should_be(tmp_path: Path, text: str, message: str) -> None:
    """The message names the file."""
    path = tmp_path / "repositories.toml"
    path.write_text(text)
    with pytest.raises(Malformed, match=message) as caught:
        pins.pins(path)
    assert str(path) in str(caught.value)


def test_the_file_of_findings_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Whatever the reason says."""
    why = 'a "quoted" \\ word\n\x7f und ä'
    path = tmp_path / "b.toml"
    place = Place("sub/a b.ipynb", 2, 7)
    written = Known(3, 9, 2, (Judged(place, "TL301", "warning", "0a1b2c3d", Verdict.FALSE, why),))
    path.write_text(text_of(written), encoding="utf-8")
    assert load(path) == written


@pytest.mark.parametrize("wrong", ['verdict = "maybe"', 'verdict = "true"', 'verdict = "unread"\nseverity = "hint"'])
def test_a_verdict_needs_a_reason(tmp_path: Path, wrong: str) -> None:
    """And is one of four."""
    severity = "" if "severity" in wrong else 'severity = "error"'
    text = (
        f'files = 1\nof = 1\nhints = 0\n[[finding]]\npath = "a.py"\nline = 1\ndigest = ""\ncode = "TL201"\n{severity}\n'
    )
    (tmp_path / "b.toml").write_text(text + wrong)
    with pytest.raises(Malformed, match="a.py:1"):
        load(tmp_path / "b.toml")


def test_the_table_counts_verdicts(tmp_path: Path) -> None:
    """One row for each repository and one for each half."""
    pin, other = Pin("a/b", "0" * 40), Pin("a/c", "1" * 40, held_out=True)
    judged = [Judged(Place("a.py", 0, row), "TL201", "error", "", Verdict.TRUE, "read") for row in (1, 2)]
    judged.append(Judged(Place("a.py", 0, 3), "TL401", "warning", "", Verdict.UNREAD))
    path = file_of(pin, tmp_path)
    path.parent.mkdir()
    path.write_text(text_of(Known(3, 9, 2, tuple(judged))))
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table([other, pin], tmp_path)][2:]
    assert rows == [
        [f"[a/b](https://github.com/a/b/tree/{'0' * 40})", "0000000", "3 of 9", "2 true", "1 unread", "-", "2"],
        [f"[a/c](https://github.com/a/c/tree/{'1' * 40})", "1111111", "0 of 0", "-", "-", "-", "0"],
        ["1 looked at while working", "", "3 of 9", "2 true", "1 unread", "-", "2"],
        ["1 held out", "", "0 of 0", "-", "-", "-", "0"],
    ]


def test_the_list_is_as_it_should_be() -> None:
    """Each repository of it has its findings, and no file is left of one that is not there any more."""
    listed = pins.pins()
    assert {file_of(pin) for pin in listed} == {*(pins.FOLDER / "findings").rglob("*.toml")}
    for pin in listed:
        load(file_of(pin))


def test_no_repository_of_that_name(tmp_path: Path) -> None:
    """A name that is not in the list is a usage error."""
    root = Path(__file__).resolve().parents[2]
    done = forked.run("tools.ecosystem", "--repository", "no/such", cwd=root, env=forked.variables())
    assert done.returncode == 2 and "no repository of the list is called no/such" in done.stderr


def test_only_the_files_of_the_sample_are_executed(github: Path, tmp_path: Path) -> None:
    """What a file shows in another one is found if both are in it, whatever the repository's own settings are."""
    helper = "def spoil(y):\n    y += 1\n    y.sum().backward()\n"
    user = "import torch\nfrom helper import spoil\nspoil(torch.ones(3, requires_grad=True).exp())\n"
    upstream(github / "a" / "b", helper="import torch\n" + helper, user=user)
    (github / "a" / "b" / "tapelint.toml").write_text('select = ["TL4"]\n')
    commit = upstream(github / "a" / "b")
    for only, found in (((), ["helper.py"]), (("helper.py",), [])):
        pin = Pin("a/b", commit, only=only)
        assert run([pin], Means(), update=True, folder=tmp_path / "findings") == 0
        assert [each.place.path for each in load(file_of(pin, tmp_path / "findings")).findings] == found
