"""The transcripts of ``tapelint trace`` on the pages are what it prints.

A ``console`` block that begins with ``$ tapelint trace NAME[:LINE]`` is compared with the trace of the last ``py``
block above it. A line ``...`` stands for lines that are left out; whatever else stands there must be printed, in
this order and without anything between. Lines ``# NAME.py`` cut a program into files, lines ``# cell N`` into the cells
of a notebook.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tapelint.cli.tracing import run

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "design").glob("*.md")),
]
COMMAND = "$ tapelint trace "
FENCE = re.compile(r"^```(py|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Transcript:
    """A transcript on a page, and the program above it."""

    page: Path
    program: str
    target: str
    expected: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page.stem}:{self.target}"


def transcripts() -> list[Transcript]:
    found: list[Transcript] = []
    for page in PAGES:
        program = ""
        for kind, text in FENCE.findall(page.read_text(encoding="utf-8")):
            if kind == "py":
                program = text
            elif text.startswith(COMMAND):
                command, *expected = text.rstrip("\n").split("\n")
                found.append(Transcript(page, program, command.removeprefix(COMMAND), tuple(expected)))
    return found


def write(folder: Path, program: str, name: str) -> None:
    """Write the program that is called ``name``, and what it consists of."""
    if name.endswith(".ipynb"):
        sources = re.split(r"(?m)^# cell \d+\n", program)[1:]
        cells = [{"cell_type": "code", "source": source} for source in sources]
        (folder / name).write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}))
        return
    _, *files = re.split(r"(?m)^# (\w+\.py)\n", program) if re.match(r"# \w+\.py\n", program) else ("", name, program)
    for file, text in zip(files[::2], files[1::2]):
        (folder / file).write_text(text)


def difference(expected: tuple[str, ...], printed: list[str]) -> str:
    """Empty if ``expected`` is ``printed``, but for what it leaves out; else the first part that is not there."""
    begin, is_free = 0, False
    for part in re.split(r"(?m)^ *\.\.\.$\n?", "\n".join((*expected, ""))):
        rows = part.split("\n")[:-1]
        places = range(begin, len(printed) - len(rows) + 1) if is_free else (begin,)
        place = next((at for at in places if printed[at : at + len(rows)] == rows), None)
        if place is None:
            return part
        begin, is_free = place + len(rows), True
    is_open = bool(expected) and expected[-1].strip() == "..."
    return "" if is_open or begin == len(printed) else "\n".join(["more is printed:", *printed[begin:]])


@pytest.mark.parametrize("transcript", transcripts(), ids=str)
def test_transcripts_are_printed(
    transcript: Transcript, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, transcript.program, transcript.target.partition(":")[0])
    assert run(transcript.target) == 0
    printed = capsys.readouterr().out.splitlines()
    if problem := difference(transcript.expected, printed):
        pytest.fail("\n".join(["not printed:", problem, "printed:", *printed]), pytrace=False)


@pytest.mark.parametrize(
    ("expected", "agrees"),
    [
        (("a", "b", "c"), True),
        (("a", "..."), True),
        (("...", "c"), True),
        (("a", "...", "c"), True),
        (("a", "b"), False),
        (("b", "c"), False),
        (("a", "c"), False),
        (("a", "...", "b", "..."), True),
        (("...", "c", "...", "b"), False),
    ],
)
def test_what_is_left_out_is_marked(expected: tuple[str, ...], agrees: bool) -> None:
    assert (difference(expected, ["a", "b", "c"]) == "") is agrees
