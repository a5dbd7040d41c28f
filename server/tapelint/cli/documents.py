"""What is printed in one piece: reports that are one document, and the difference that fixes make."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import unified_diff
from itertools import pairwise
from typing import Any

from ..source import line_starts


@dataclass(slots=True)
class Document:
    """What goes into one."""

    # findings
    objects: list[Any] = field(default_factory=list)
    # notices, where the format lists them apart from the findings
    notifications: list[Any] = field(default_factory=list)
    # messages about what could not be done and has no notification
    failures: list[str] = field(default_factory=list)
    has_failed: bool = False


def _listed(document: Document) -> str:
    return json.dumps(document.objects, indent=2)


def _sarif(document: Document) -> str:
    from .sarif_log import sarif_log

    return sarif_log(document.objects, document.notifications, document.failures, not document.has_failed)


DOCUMENTS: dict[str, Callable[[Document], str]] = {"json": _listed, "gitlab": _listed, "sarif": _sarif}
"""How a run becomes one document, by format."""


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
