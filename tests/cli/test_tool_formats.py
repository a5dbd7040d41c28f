"""The formats of other tools, as these tools read them; what could not be analysed is in each of them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

PROGRAM = """\
import torch
y = torch.ones(2, requires_grad=True).exp()
é = "日本"; y += 1
y.sum().backward()
"""
ALL = "full concise grouped json json-lines sarif junit github gitlab pylint azure rdjson".split()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a;]b.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "clean.py").write_text("x = 1\n")
    (tmp_path / "no_text.py").write_bytes(b"torch\0")
    return tmp_path


def check(tapelint, form: str, *arguments: str):
    return tapelint("check", "--output-format", form, *(arguments or (".",)))


@pytest.mark.parametrize("form", ALL)
def test_what_could_not_be_analysed_is_in_every_format(folder: Path, tapelint, form: str) -> None:
    done = check(tapelint, form)
    said = done.stdout + (done.stderr if form in ("full", "concise") else "")
    assert done.returncode == 2 and "no_text.py" in said and "binary" in said
    if form not in ("full", "concise"):
        assert "binary" not in check(tapelint, form, "clean.py").stdout


def test_grouped(folder: Path, tapelint) -> None:
    rows = check(tapelint, "grouped").stdout.splitlines()
    assert rows[0] == "a;]b.py:" and rows[1].startswith("  3:11 TL201 [*] Writes `y` in place")
    assert rows[2:4] == ["", "no_text.py:"] and rows[4].startswith("  1:1 TL910 Cannot be read")
    assert check(tapelint, "grouped", "clean.py").stdout == ""


def test_pylint(folder: Path, tapelint) -> None:
    """Jenkins' pattern for pylint."""
    rows = check(tapelint, "pylint").stdout.splitlines()
    assert rows
    for row in rows:
        assert re.fullmatch(r"(.*):(\d+): \[(\D\d*|\w+)\] (.*)", row)


def test_azure(folder: Path, tapelint) -> None:
    rows = check(tapelint, "azure", ".", "away.py").stdout.splitlines()
    place = "sourcepath=a%3B%5Db.py;linenumber=3;columnnumber=11;code=TL201;"
    assert rows[0] == "##vso[task.logissue type=error;]away.py: no such file or folder"
    assert rows[1].startswith(f"##vso[task.logissue type=error;{place}]Writes `y`")
    assert rows[2].startswith("##vso[task.logissue type=warning;sourcepath=no_text.py;") and len(rows) == 3


def test_junit(folder: Path, tapelint) -> None:
    root = ElementTree.fromstring(check(tapelint, "junit", ".", "away.py").stdout)
    assert root.attrib == {"name": "tapelint", "tests": "3", "failures": "1", "errors": "2"}
    found, unseen, run = root
    assert (found.get("name"), found[0].get("name"), found[0].get("classname")) == (
        "a;]b.py",
        "org.tapelint.TL201",
        "a;]b",
    )
    assert (found[0].get("line"), found[0].get("column"), found[0][0].tag) == ("3", "11", "failure")
    assert unseen[0][0].tag == run[0][0].tag == "error" and "away.py" in str(run[0][0].get("message"))
    for suite in root:
        assert int(suite.attrib["tests"]) == len(suite)


def test_junit_of_nothing_has_a_case_that_passes(folder: Path, tapelint) -> None:
    root = ElementTree.fromstring(check(tapelint, "junit", "clean.py").stdout)
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("1", "0", "0")
    assert root[0][0].get("name") == "No errors found" and not len(root[0][0])


def test_hints_fail_nothing_in_junit(folder: Path, tapelint) -> None:
    (folder / "tapelint.toml").write_text('[severities]\nTL201 = "hint"\n')
    root = ElementTree.fromstring(check(tapelint, "junit", "a;]b.py").stdout)
    assert root.get("failures") == "0" and root[0][0][0].tag == "skipped"


def test_rdjson_counts_bytes(folder: Path, tapelint) -> None:
    document = json.loads(check(tapelint, "rdjson").stdout)
    assert document["source"]["name"] == "tapelint"
    found, unseen = document["diagnostics"]
    start, end = (found["location"]["range"][part] for part in ("start", "end"))
    row = PROGRAM.splitlines()[2].encode()
    assert row[start["column"] - 1 : end["column"] - 1] == b"y += 1"
    (suggestion,) = found["suggestions"]
    edited = suggestion["range"]
    begin, stop = edited["start"]["column"] - 1, edited["end"]["column"] - 1
    assert row[:begin] + suggestion["text"].encode() + row[stop:] == 'é = "日本"; y = y + 1'.encode()
    assert (found["severity"], found["code"]["value"]) == ("ERROR", "TL201")
    assert (unseen["severity"], unseen["location"]["path"]) == ("WARNING", "no_text.py")


def test_json_lines_have_a_record_for_each_file(folder: Path, tapelint) -> None:
    (folder / "part.py").write_text("import torch\ndef f(:\n")
    records = {each["filename"]: each for each in map(json.loads, check(tapelint, "json-lines").stdout.splitlines())}
    assert list(records) == ["a;]b.py", "clean.py", "no_text.py", "part.py"]
    for each in records.values():
        assert list(each) == ["filename", "findings", "partial", "skipped", "fault", "seconds"]
        assert each["seconds"] >= 0 and each["fault"] is None
    assert [found["code"] for found in records["a;]b.py"]["findings"]] == ["TL201"]
    assert records["a;]b.py"]["skipped"] is None and records["a;]b.py"]["partial"] == []
    assert "torch" in records["clean.py"]["skipped"] and "binary" in records["no_text.py"]["skipped"]
    assert records["part.py"]["partial"] and records["part.py"]["skipped"] is None


def test_json_lines_of_a_file_that_was_not_named(folder: Path, tapelint) -> None:
    (folder / "helper.py").write_text("def change(y):\n    y += 1\n")
    program = "import torch\nfrom helper import change\ny = torch.ones(2, requires_grad=True).exp()\nchange(y)\n"
    (folder / "train.py").write_text(f"{program}y.sum().backward()\n")
    train, helper = map(json.loads, check(tapelint, "json-lines", "train.py").stdout.splitlines())
    assert (train["filename"], train["findings"]) == ("train.py", [])
    assert (helper["filename"], helper["seconds"], len(helper["findings"])) == ("helper.py", None, 1)


def test_the_environment_chooses_the_format(folder: Path, tapelint) -> None:
    assert json.loads(tapelint("check", "clean.py", TAPELINT_OUTPUT_FORMAT="json").stdout) == []
    chosen = tapelint("check", "--output-format", "json", "clean.py", TAPELINT_OUTPUT_FORMAT="junit")
    assert chosen.stdout == "[]\n"
    wrong = tapelint("check", "clean.py", TAPELINT_OUTPUT_FORMAT="yaml")
    assert wrong.returncode == 2 and "yaml" in wrong.stderr


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_log_says_what_became_of_each_file(folder: Path, tapelint, jobs: str) -> None:
    for number in range(9):
        (folder / f"n{number}.py").write_text("x = 1\n")
    (folder / "lost.py").write_text("import torch\nimport away\nloss = away.loss()\nloss.backward()\n")
    log = tapelint("check", "--jobs", jobs, "--log-level", "debug", ".", apart=True).stderr
    assert re.search(r"^INFO tapelint: a;]b\.py: 1 found in \d+\.\d+ s$", log, re.MULTILINE)
    assert "INFO tapelint: n8.py: skipped: Neither" in log
    assert "DEBUG tapelint: a;]b.py:4: paths end here: PyTorch raises" in log
    assert "DEBUG tapelint: lost.py:4: loss.backward: unknown graph: " in log
    told = tapelint("check", "--jobs", jobs, "--log-level", "info", ".", apart=True).stderr
    assert "INFO tapelint" in told and "DEBUG" not in told
    assert "tapelint:" not in tapelint("check", "--jobs", jobs, ".", apart=True).stderr
