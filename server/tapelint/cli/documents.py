"""What is printed in one piece: reports that are one document, and the difference that fixes make."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from difflib import unified_diff
from itertools import pairwise
from typing import Any

from ..source import line_starts


def _listed(objects: Sequence[Any]) -> str:
    return json.dumps(objects, indent=2)


def _sarif(objects: Sequence[Any]) -> str:
    from ..report.as_sarif import as_sarif
    from ..rules import all_rules

    return json.dumps(as_sarif(objects, all_rules()), indent=2)


DOCUMENTS: dict[str, Callable[[Sequence[Any]], str]] = {"json": _listed, "gitlab": _listed, "sarif": _sarif}
"""How the findings of a run become one document, by format."""


def difference(path: str, before: str, after: str) -> str:
    """What the fixes change, as ``diff -u`` shows it; empty where they change nothing."""
    if before == after:
        return ""
    rows = []
    for row in unified_diff(_rows(before), _rows(after), path, path):
        rows.append(row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n")
    return "".join(rows)


def _rows(text: str) -> list[str]:
    """The rows of a text with their ends."""
    return [text[begin:end] for begin, end in pairwise([*line_starts(text), len(text)]) if begin < end]
