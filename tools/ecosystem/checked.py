"""What ``tapelint check`` says of the files of a repository: the command itself, as a user runs it.

Only the files that are asked for are executed (``callers = false``): files that use them take as long again, and in a
repository that is checked as a whole they are asked for anyway.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tapelint.report.notice import Kind
from tapelint.severity import Severity

from .settings import ROOT

LISTED = frozenset(severity.word for severity in (Severity.ERROR, Severity.WARNING, Severity.INFORMATION))
"""Severities of findings that are listed one by one; hints are counted."""
TIMEOUT = 900
"""Seconds for the files of one repository, unless others are asked for."""
SETTINGS = "callers = false\n"
_UNSEEN = {kind.described[0] for kind in Kind}
"""The codes of what was not seen of a file; it is no finding."""
_FAULT = Kind.FAULT.described[0]


class Failed(Exception):
    """The check of a repository came to no end; the message says why."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a finding is: in a notebook the line is one of a cell, and cells are counted from 1."""

    path: str
    cell: int
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{f'cell {self.cell}:' if self.cell else ''}{self.line}"


@dataclass(frozen=True, slots=True, order=True)
class Listed:
    """A finding that is listed: its place, what it says, and a digest of the text of its line."""

    place: Place
    code: str
    severity: str
    digest: str
    message: str


@dataclass(slots=True)
class Checked:
    """What was said of a repository; ``seconds`` are of processor time."""

    findings: list[Listed] = field(default_factory=list)
    hints: int = 0
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0


def check(folder: Path, files: tuple[str, ...], timeout: float) -> Checked:
    """Run ``tapelint check`` of this checkout in ``folder``, in one process; its settings are written there.

    Raises Failed.
    """
    if not files:
        return Checked()
    (folder / "tapelint.toml").write_text(SETTINGS, encoding="utf-8")
    options = ["--no-cache", "--output-format", "json", "--jobs", "1"]
    command = [sys.executable, "-m", "tapelint", "check", *options, "--", *files]
    path = os.pathsep.join(filter(None, (str(ROOT / "server"), os.environ.get("PYTHONPATH"))))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1"},
            capture_output=True,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise Failed(f"not finished after {timeout:g} seconds") from error
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        said = json.loads(done.stdout)
    except ValueError as error:
        last = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise Failed(f"tapelint has failed: {last[-1]}") from error
    found = Checked(seconds=after.ru_utime - before.ru_utime)
    take(found, said, Lines(folder))
    return found


def take(found: Checked, said: object, lines: Lines) -> None:
    """Add what the check has ``said`` in its output for programs; what was not seen of a file is no finding."""
    for each in _objects(said):
        code, severity, message = str(each["code"]), str(each["severity"]), str(each["message"])
        at = each["location"]
        assert isinstance(at, dict)
        place = Place(str(each["filename"]), int(at.get("cell", 0)), int(at["row"]))
        if code == _FAULT:
            found.faults.append(f"{place.path}: {message}")
        elif code in _UNSEEN:
            continue
        elif severity in LISTED:
            found.findings.append(Listed(place, code, severity, lines.digest(place), message))
        else:
            found.hints += 1
    found.findings.sort()


def _objects(said: object) -> Iterator[dict[str, object]]:
    if isinstance(said, list):
        yield from (each for each in said if isinstance(each, dict))


class Lines:
    """The lines of the files below a folder, each by a digest of its text without the blanks around it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[tuple[str, int], list[str]] = {}

    def digest(self, place: Place) -> str:
        """Eight hexadecimal digits: they change with the text of a line, and not with its place."""
        rows = self._rows(place.path, place.cell)
        text = rows[place.line - 1].strip() if place.line <= len(rows) else ""
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:8]

    def _rows(self, path: str, cell: int) -> list[str]:
        if (path, cell) not in self._read:
            text = (self._folder / path).read_text(encoding="utf-8", errors="replace")
            if cell:
                source = json.loads(text)["cells"][cell - 1]["source"]
                text = source if isinstance(source, str) else "".join(source)
            self._read[path, cell] = text.split("\n")
        return self._read[path, cell]
