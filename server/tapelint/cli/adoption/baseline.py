"""A baseline: the findings that are known, so that only new ones are reported.

    {"version": 1, "findings": {"src/train.py": {"TL101": {"loss.backward()": 2}}}}

A finding is known by its file, its rule and the text of its row, not by the number of the row: code that moves within
its file keeps its findings. Of equal rows so many are known as the baseline counts.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from ...report.diagnostic import Diagnostic
from ..task import Found

USUAL = "tapelint-baseline.json"
VERSION = 1
Key = tuple[str, str, str]
"""The file, from the folder of the baseline on and with slashes; the code; the text of the row."""


class BaselineError(Exception):
    """A baseline that cannot be used; the message says which and why."""


@dataclass(slots=True)
class Baseline:
    """What is known. ``left`` are those that no finding of this run was."""

    path: str
    left: Counter[Key] = field(default_factory=Counter)

    def knows(self, found: Found) -> bool:
        """Whether a finding is known; each is asked for once."""
        key = self._key(found.diagnostic, found.row)
        if self.left[key] <= 0:
            return False
        self.left[key] -= 1
        return True

    def stale(self, checked: Collection[str]) -> list[Key]:
        """What is left of the files at these absolute paths, and of those that are gone."""
        folder = os.path.dirname(os.path.abspath(self.path))
        places = ((key, os.path.normpath(os.path.join(folder, key[0]))) for key in sorted(+self.left))
        return [key for key, place in places if place in checked or not os.path.lexists(place)]

    def write(self, found: Iterable[Found]) -> int:
        """Make these findings the known ones; how many they are. Raises BaselineError."""
        counts = Counter(self._key(each.diagnostic, each.row) for each in found)
        findings: dict[str, dict[str, dict[str, int]]] = {}
        for (name, code, row), count in sorted(counts.items()):
            findings.setdefault(name, {}).setdefault(code, {})[row] = count
        text = json.dumps({"version": VERSION, "findings": findings}, indent=2, ensure_ascii=False) + "\n"
        try:
            with open(self.path, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
        except OSError as error:
            raise BaselineError(f"{self.path}: cannot be written: {error.strerror or error}") from error
        return counts.total()

    def _key(self, diagnostic: Diagnostic, row: str) -> Key:
        name = os.path.relpath(os.path.abspath(diagnostic.filename), os.path.dirname(os.path.abspath(self.path)))
        return name.replace(os.sep, "/"), diagnostic.code, row.strip()


def read_baseline(path: str) -> Baseline:
    """The baseline in a file. Raises BaselineError."""
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except OSError as error:
        raise BaselineError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"{path}: is no baseline: {error}") from error
    try:
        if content["version"] != VERSION:
            raise BaselineError(f"{path}: is a baseline of another version, {content['version']}; write it anew")
        known = Counter(
            {
                (name, code, row): int(count)
                for name, codes in content["findings"].items()
                for code, rows in codes.items()
                for row, count in rows.items()
            }
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BaselineError(f"{path}: is no baseline: it has no table of findings") from error
    return Baseline(path, known)
