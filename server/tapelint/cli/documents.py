"""What is printed in one piece: reports that are one document, and the difference that fixes make."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from difflib import unified_diff
from itertools import pairwise
from typing import Any

from ..report.in_cells import cell_name
from ..source import NOTEBOOK, Cell, Notebook, line_starts, notebook


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
    if path.endswith(NOTEBOOK):
        return "".join(_difference(name, was, now) for name, was, now in _cells(path, before, after) if was != now)
    return _difference(path, before, after)


def _difference(name: str, before: str, after: str) -> str:
    rows = []
    for row in unified_diff(_rows(before), _rows(after), name, name):
        rows.append(row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n")
    return "".join(rows)


def _cells(path: str, before: str, after: str) -> Iterator[tuple[str, str, str]]:
    """The cells of a notebook by name, each with its text before and after."""
    old, new = notebook(before), notebook(after)
    for was, now in zip(old.cells, new.cells, strict=True):
        yield cell_name(path, was), _code(old, was), _code(new, now)


def _code(book: Notebook, cell: Cell) -> str:
    return "".join(_rows(book.text)[cell.first - 1 : cell.last])


def _rows(text: str) -> list[str]:
    """The rows of a text with their ends."""
    return [text[begin:end] for begin, end in pairwise([*line_starts(text), len(text)]) if begin < end]
