"""What is printed in one piece: reports that are one document, and the difference that fixes make."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from itertools import pairwise
from typing import Any

from ..report import for_tools
from ..report.for_tools import as_rdjson
from ..report.in_cells import cell_name
from ..report.notice import Kind
from ..source import NOTEBOOK, Cell, Notebook, line_starts, notebook
from .task import FileResult

NOTICES = frozenset(kind.described[0] for kind in Kind)


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
    # how the check of each file of the run went
    records: list[dict[str, Any]] = field(default_factory=list)


def _listed(document: Document) -> str:
    return json.dumps(document.objects, indent=2)


def _sarif(document: Document) -> str:
    from ..report.as_sarif import sarif_log  # it needs the rules: 30 ms

    return sarif_log(document.objects, document.notifications, document.failures, not document.has_failed)


def _rdjson(document: Document) -> str:
    return json.dumps(as_rdjson(document.objects), indent=2)


def _json_lines(document: Document) -> str:
    """One record for each file, also for those that were not checked but findings stand in; without notices, which
    have keys of their own.
    """
    records = {each["filename"]: each for each in document.records}
    for each in document.objects:
        if each["code"] not in NOTICES:
            name = each["filename"]
            records.setdefault(name, _record(name))["findings"].append(each)
    return "\n".join(map(json.dumps, records.values()))


def _for_tool(written: Callable[[Sequence[Any], Sequence[str]], str]) -> Callable[[Document], str]:
    return lambda document: written(document.objects, document.failures)


DOCUMENTS: dict[str, Callable[[Document], str]] = {
    "json": _listed,
    "json-lines": _json_lines,
    "gitlab": _listed,
    "sarif": _sarif,
    "rdjson": _rdjson,
    "junit": _for_tool(for_tools.junit),
    "grouped": _for_tool(for_tools.grouped),
    "pylint": _for_tool(for_tools.pylint),
    "azure": _for_tool(for_tools.azure),
}
"""How a run becomes one document, by format."""
LINES = frozenset(("json-lines", "grouped", "pylint", "azure"))
"""Formats in which nothing is printed where there is nothing."""


def record(answer: FileResult) -> dict[str, Any]:
    """How the check of a file went: what was followed in part, why it was not checked, what has failed in tapelint, and
    the seconds that it took, waiting included.
    """
    said: dict[Kind, list[str]] = {}
    for notice in answer.notices:
        said.setdefault(notice.kind, []).append(notice.sentence)
    partial = (*said.get(Kind.PARSED_IN_PART, ()), *said.get(Kind.FOLLOWED_IN_PART, ()))
    skipped = [*said.get(Kind.NOT_READ, ()), *said.get(Kind.NOT_ANALYSED, ()), *filter(None, [answer.skipped]), None]
    fault = "; ".join(said.get(Kind.FAULT, ())) or None
    return _record(answer.path, partial, skipped[0], fault, round(answer.seconds, 4))


def _record(
    filename: str,
    partial: Sequence[str] = (),
    skipped: str | None = None,
    fault: str | None = None,
    seconds: float | None = None,
) -> dict[str, Any]:
    return {
        "filename": filename,
        "findings": [],
        "partial": partial,
        "skipped": skipped,
        "fault": fault,
        "seconds": seconds,
    }


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
