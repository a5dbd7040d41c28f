"""What is written down of a repository: one line of JSON, which is complete or not there.

{"repository": "a/b.tar.gz", "seconds": 4.1, "error": null, "files": [
    {"filename": "train.py", "outcome": "checked", "seconds": 0.3, "findings": [...], "notices": [...]}]}
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, field
from typing import Any, Literal

from ...frozen import frozen

Outcome = Literal["checked", "timeout", "memory", "died"]


@frozen
class CheckedFile:
    """One file: ``findings`` as ``--output-format json`` has them, ``notices`` of what was not analysed or in part,
    and the processor time. A file that took too long, needed too much memory or ended its process has no findings.
    """

    filename: str
    outcome: Outcome = "checked"
    seconds: float = 0.0
    findings: list[dict[str, Any]] = field(default_factory=list)
    notices: list[dict[str, str]] = field(default_factory=list)


@frozen
class RepositoryRecord:
    """One repository, as the list names it. ``seconds`` are by the clock. ``error`` says why it could not be read."""

    repository: str
    version: str
    seconds: float = 0.0
    error: str | None = None
    files: list[CheckedFile] = field(default_factory=list)

    @property
    def line(self) -> str:
        """The record as one line."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=False) + "\n"

    @property
    def outcomes(self) -> Counter[str]:
        """How many files came out how."""
        return Counter(each.outcome for each in self.files)


class Records:
    """A file with a line for each repository that is done. A run that was interrupted goes on where it stopped."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.done = frozenset(self._kept())
        self._file = open(path, "a", encoding="utf-8")

    def _kept(self) -> Iterator[str]:
        """The repositories with a whole line. What was being written when the last run ended is cut off."""
        if not os.path.exists(self.path):
            return
        whole = 0
        with open(self.path, "rb") as file:
            for line in file:
                name = _repository(line)
                if name is None:
                    break
                whole += len(line)
                yield name
        with open(self.path, "r+b") as file:
            file.truncate(whole)

    def add(self, record: RepositoryRecord) -> None:
        """Write a record, so that it is still there after a crash."""
        self._file.write(record.line)
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


def _repository(line: bytes) -> str | None:
    """The repository of a whole line; None of a broken one."""
    if not line.endswith(b"\n"):
        return None
    try:
        name = json.loads(line)["repository"]
    except (ValueError, KeyError, TypeError):
        return None
    return name if isinstance(name, str) else None
