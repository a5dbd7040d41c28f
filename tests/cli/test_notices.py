"""What was not seen is said: in every format, in the summary, by the exit status; and a fault names its place."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from plain import Tapelint, variables
from tests import forked

from tapelint import analysis
from tapelint.engine.limits import Limits

BAD = """\
import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
y += 1
y.sum().backward()
"""
GOOD = BAD.replace("x.exp()", "x * 2")
LONG = f"n = {' + '.join(['n'] * 60)}\n"
CUT = f"""\
import torch


def train(model, batch):
    model(batch).sum().backward()


class Model:
    def fit(self, n):
        x = torch.ones(3, requires_grad=True)
{f"        {LONG}" * 40}        x.sum().backward()
"""
CUT_WORDS = "`Model.fit` (line 9) was followed in part (1 of 2 functions)"
BROKEN = BAD.replace("y += 1", "z = 1") + "z = (\n"
LARGE = "import torch\n" * 60_001
FORMATS = ("full", "concise", "json", "sarif", "github", "gitlab")

PATCHED = '''\
"""The command line with an engine that has a fault: whatever is called `broken` makes it divide by nothing."""
from tapelint.cli import main
from tapelint.engine import machine

EVAL = machine.Machine.eval

def evaluate(self, node, state):
    if getattr(node, "id", "") == "broken":
        raise ZeroDivisionError("division by <object at 0x7f00>")
    return EVAL(self, node, state)

machine.Machine.eval = evaluate
main(lambda: None)
'''


@pytest.fixture(autouse=True)
def little_fuel(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of the fuel, so that a tenth of the work shows what happens when it is spent."""
    little = replace(Limits(), script_fuel=4_000, entry_fuel=1_000, all_entries_fuel=3_000)
    monkeypatch.setattr(analysis, "analyse", partial(analysis.analyse, limits=little))


@pytest.fixture
def faulty(tmp_path: Path) -> Tapelint:
    """``faulty("check", "a.py")`` runs the command line with an engine that has a fault."""
    script = tmp_path / "patched" / "run.txt"
    script.parent.mkdir()
    script.write_text(PATCHED)

    def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        return forked.run(script, *arguments, cwd=tmp_path, env=variables(**more))

    return run


def of(form: str, text: str) -> list[dict]:
    """What a format for programs says of what was not seen."""
    found = json.loads(text)
    if form == "sarif":
        return found["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    key = "code" if form == "json" else "check_name"
    return [each for each in found if each[key].startswith("TL91")]


def test_an_entry_point_out_of_fuel_is_reported(tapelint: Tapelint, tmp_path: Path) -> None:
    """It is named with its line in every format for programs and counted in the summary; the status stays 0."""
    (tmp_path / "a.py").write_text(CUT)
    (tmp_path / "b.py").write_text(GOOD)
    done = {form: tapelint("check", "--output-format", form, ".") for form in FORMATS}
    assert {(each.returncode, each.stderr) for each in done.values()} == {(0, "")}
    assert done["full"].stdout == "Nothing found in 2 files (1 followed in part).\n"
    assert done["concise"].stdout == f"a.py:9:5: hint[TL911] {CUT_WORDS}\n"
    (record,) = of("json", done["json"].stdout)
    assert (record["name"], record["severity"], record["message"]) == ("followed-in-part", "hint", CUT_WORDS)
    assert record["location"] == {"row": 9, "column": 5} and record["fixes"] == []
    assert [step["location"]["row"] for step in record["related"]] == [9]
    (note,) = of("sarif", done["sarif"].stdout)
    assert (note["descriptor"]["id"], note["level"], note["message"]["text"]) == ("TL911", "note", CUT_WORDS)
    assert note["locations"][0]["physicalLocation"]["region"]["startLine"] == 9
    assert json.loads(done["sarif"].stdout)["runs"][0]["invocations"][0]["executionSuccessful"] is True
    assert done["github"].stdout.startswith("::notice title=TL911 (followed-in-part),file=a.py,line=9,")
    (entry,) = of("gitlab", done["gitlab"].stdout)
    assert entry["severity"] == "info" and entry["location"]["lines"]["begin"] == 9


def test_stats_name_the_entry_point(tapelint: Tapelint, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CUT)
    assert f"a.py: {CUT_WORDS}" in tapelint("check", "--stats", "a.py").stderr


def test_gitlab_fingerprint_ignores_the_entry_points(tapelint: Tapelint, tmp_path: Path) -> None:
    """A merge request that adds a line must not show it as new."""
    prints = set()
    for text in (CUT, f"# a line\n{CUT}", CUT.replace("fit", "learn")):
        (tmp_path / "a.py").write_text(text)
        (entry,) = of("gitlab", tapelint("check", "--output-format", "gitlab", "a.py").stdout)
        prints.add(entry["fingerprint"])
    assert len(prints) == 1


def test_the_line_where_the_script_stopped_is_reported(tapelint: Tapelint, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(f"import torch\nn = 1\n{LONG * 150}")
    (record,) = of("json", tapelint("check", "--output-format", "json", "a.py").stdout)
    assert record["message"] == "The script (up to line 72) was followed in part"


def test_what_does_not_fit_into_a_message_is_counted_and_not_cut_off(tapelint: Tapelint, tmp_path: Path) -> None:
    long = "_and_the_name_of_this_function_is_so_long_that_no_message_can_hold_it"
    body = f"    x = torch.ones(3, requires_grad=True)\n{f'    {LONG}' * 40}    x.sum().backward()\n"
    functions = "".join(f"def train_{number}{long}(n):\n{body}\n" for number in range(3))
    (tmp_path / "many.py").write_text(f"import torch\n{functions}")
    ((notice),) = json.loads(tapelint("check", "--output-format", "json", "many.py").stdout)
    assert notice["message"] == "Several functions (3) were followed in part"
    assert [step["location"]["row"] for step in notice["related"]] == [2, 46, 90]


def test_the_cell_where_a_notebook_stopped_is_reported(tapelint: Tapelint, tmp_path: Path) -> None:
    """Rows in words are those of the cell, too."""
    cells = [{"cell_type": "code", "source": source} for source in ("import torch\n", "1\n" + CUT)]
    (tmp_path / "a.ipynb").write_text(json.dumps({"nbformat": 4, "cells": cells}))
    (record,) = of("json", tapelint("check", "--output-format", "json", "a.ipynb").stdout)
    assert "`Model.fit` (cell 2 line 10)" in record["message"]
    assert record["location"] == {"cell": 2, "row": 10, "column": 5}


def test_notices_follow_select_and_ignore(tapelint: Tapelint, tmp_path: Path) -> None:
    """Codes work as those of rules do; comments do not."""
    (tmp_path / "a.py").write_text(f"# tapelint: ignore-file\n# tapelint: ignore-file[TL911]\n{CUT}")
    assert len(of("json", tapelint("check", "--output-format", "json", "a.py").stdout)) == 1
    (tmp_path / "a.py").write_text(CUT)
    for options, count in (((), 1), (("--ignore", "TL911"), 0), (("--select", "TL2"), 0), (("--select", "TL9"), 1)):
        done = tapelint("check", "--output-format", "json", *options, "a.py")
        assert (done.returncode, len(of("json", done.stdout))) == (0, count)
    (tmp_path / "tapelint.toml").write_text('severities = { TL911 = "information" }\n')
    done = tapelint("check", "--output-format", "json", "a.py")
    assert (done.returncode, of("json", done.stdout)[0]["severity"]) == (1, "information"), "graded as a finding"


def test_a_file_with_syntax_errors(tapelint: Tapelint, tmp_path: Path) -> None:
    """Something found, as for other checkers; on standard error in any case."""
    (tmp_path / "a.py").write_text(BROKEN)
    words = "Syntax error: '(' was never closed; the rest of the file was checked"
    for form in FORMATS:
        done = tapelint("check", "--output-format", form, "a.py")
        assert (done.returncode, done.stderr) == (1, f"warning: a.py:7:5: {words}\n")
        if form == "full":
            assert done.stdout == "Nothing found in 1 file (1 parsed in part).\n"
        elif form == "github":
            assert done.stdout.startswith("::warning title=TL913 (parsed-in-part),file=a.py,line=7,")
        elif form != "concise":
            (told,) = of(form, done.stdout)
            assert words in str(told)
    assert tapelint("check", "--exit-zero", "a.py").returncode == 0
    assert tapelint("check", "--ignore", "TL913", "a.py").returncode == 0


def test_too_deep_nesting_is_no_syntax_error(tapelint: Tapelint, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(f"import torch\nx = {' + '.join(['1'] * 1_000)}\n")
    done = tapelint("check", "a.py")
    assert (done.returncode, done.stdout) == (0, "Nothing found in 1 file (1 followed in part).\n")
    assert "a.py:2:1: Nested more than 120 levels deep" in done.stderr


@pytest.mark.parametrize(("data", "words"), [(b"\x7fELF\0torch", "binary"), (LARGE.encode(), "too large")])
def test_files_that_were_not_analysed_are_failures(tapelint: Tapelint, tmp_path: Path, data: bytes, words: str) -> None:
    """Also beside findings, and whatever is selected; an unreadable file was not checked."""
    (tmp_path / "a.py").write_bytes(data)
    (tmp_path / "b.py").write_text(BAD)
    for form in FORMATS:
        done = tapelint("check", "--output-format", form, ".")
        assert done.returncode == 2 and "error: a.py: " in done.stderr and words in done.stderr
        if form in ("json", "sarif", "gitlab"):
            (told,) = of(form, done.stdout)
            assert words in str(told)
        if form == "github":
            assert "::warning title=TL910 (not-analysed),file=a.py,line=1," in done.stdout
    ends = "1 file (1 not read)." if data[:1] == b"\x7f" else "2 files (1 not analysed)."
    assert f"Found 1 error in {ends}\n" in tapelint("check", ".").stdout
    assert tapelint("check", "--select", "TL2", "a.py").returncode == 2
    log = json.loads(tapelint("check", "--output-format", "sarif", ".").stdout)
    (invocation,) = log["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    assert {d["id"] for d in log["runs"][0]["tool"]["driver"]["notifications"]} >= {"TL910"}


def test_standard_input_that_is_no_text(tapelint: Tapelint) -> None:
    done = tapelint("check", "-", "--stdin-filename", "a.py", "--output-format", "json", stdin=b"torch \xff")
    (record,) = of("json", done.stdout)
    assert done.returncode == 2 and record["filename"] == "a.py" and "Cannot be read" in record["message"]


def test_a_missing_path_is_in_sarif(tapelint: Tapelint) -> None:
    done = tapelint("check", "--output-format", "sarif", "nowhere.py")
    (told,) = of("sarif", done.stdout)
    assert told == {"level": "error", "message": {"text": "nowhere.py: no such file or folder"}}


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_internal_error_is_reported(faulty: Tapelint, tmp_path: Path, jobs: str) -> None:
    """Named with its entry point, its exception and the frame; what else there is to find is found."""
    (tmp_path / "a.py").write_text(f"import torch\ndef train(x):\n    broken\ndef other(x):\n    broken\n{BAD}")
    for number in range(10):
        (tmp_path / f"m{number}.py").write_text(GOOD)
    for form in FORMATS:
        done = faulty("check", "--jobs", jobs, "--output-format", form, ".")
        assert done.returncode == 2
        assert "error: internal error in a.py: `train` (line 2) and `other` (line 4)" in done.stderr
        assert "could not be followed to the end: ZeroDivisionError: division by <object> (" in done.stderr
        assert "please report it" in done.stderr and 'File "' not in done.stderr.partition("please report it")[0]
        assert "TL201" in done.stdout
        if form in ("json", "sarif", "gitlab"):
            (told,) = of(form, done.stdout)
            assert "could not be followed to the end" in str(told)
            assert ("ZeroDivisionError" in str(told)) == (form != "gitlab"), "it has room for a headline"
        elif form == "github":
            assert "::warning title=TL912 (internal-error),file=a.py,line=2," in done.stdout
        elif form == "full":
            assert "in evaluate\n" in faulty("check", "a.py", TAPELINT_LOG="error").stderr
            assert "\nFound 1 error in 11 files (1 with an internal error).\n" in done.stdout
