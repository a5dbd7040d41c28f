"""Findings for other tools, each in its own form; that of lines and XML is the one that ruff prints.

train.py:4: [TL201] Writes `y` in place, which `exp` saved for backward                                       pylint
##vso[task.logissue type=error;sourcepath=train.py;linenumber=4;columnnumber=1;code=TL201;]Writes ...         azure

train.py:                                                                                                     grouped
  4:1 TL201 [*] Writes `y` in place, which `exp` saved for backward

<testsuites name="tapelint" ...><testsuite name="train.py" ...><testcase name="org.tapelint.TL201" ...>       junit

::error title=TL101 (...),file=train.py,line=3,endLine=3,col=1,endColumn=7::message     GitHub, one line each
[{"description", "check_name", "fingerprint", "severity", "location"}]                  GitLab, code quality

Reviewdog's format: https://github.com/reviewdog/reviewdog/tree/master/proto/rdf

{"source": {"name"}, "severity", "diagnostics": [{"message", "location": {"path", "range"}, "severity", "code",
                                                  "suggestions": [{"range", "text"}]}]}

Its columns count bytes of UTF-8 from 1, as reviewdog does.

The output for programs. One object per finding, and one for what was not seen of a file (TL910 to TL914):

code, name, severity (error | warning | information | hint), message, filename,
raises                        the error of PyTorch in its own words, or null where it raises nothing
location, end_location        {"row", "column"}, both from 1, columns in characters, the end exclusive; in a
                              notebook rows of the cell, and {"cell", "row", "column"}, cells of all kinds from 1
related                       the story in order: [{"message", "short", "filename", "location",
                              "end_location"}]; short: the same in a few words
help, url                     text or null
rests_on                      what it needs beside the code: [{"kind", "text"}]; kind: ordinary, called,
                              chosen, followed, guessed, tested
fixes                         [{"title", "effect", "applicability", "manual", "preferred", "edits"}], the best
                              first; effect: a sentence on what it costs or changes besides, or null;
                              applicability: safe or unsafe; manual: only the user's own choice applies it;
                              edits: [{"content", "filename", "location", "end_location"}], not overlapping
no_fix                        why there is none, where PyTorch raises and no fix is known to help, or null
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from os.path import splitext
from typing import Any
from xml.etree import ElementTree

from .. import __url__
from ..frozen import frozen
from ..severity import Severity
from ..source import Cell, Edit, Span, cell_at
from .diagnostic import NO_OFFER, Diagnostic, Fix, Offer
from .look import printable

_PACKAGE = "org.tapelint"


@frozen
class Remark:
    """A finding, or what was not seen of a file (``is_unseen``), as far as these tools care."""

    filename: str
    row: int
    column: int
    code: str
    message: str
    severity: Severity
    is_fixable: bool = False
    is_unseen: bool = False

    @property
    def outcome(self) -> str:
        """What it is among the results of tests: a hint fails nothing."""
        return "skipped" if self.severity is Severity.HINT else "error" if self.is_unseen else "failure"


def remark(diagnostic: Diagnostic, offer: Offer | None = None) -> Remark:
    """A finding with what is offered; a notice with None."""
    return Remark(
        diagnostic.filename,
        diagnostic.span.row,
        diagnostic.span.column,
        diagnostic.code,
        printable(diagnostic.message),
        diagnostic.severity,
        is_fixable=offer is not None and any(fix.applicability == "safe" for fix in offer.fixes),
        is_unseen=offer is None,
    )


def pylint(remarks: Iterable[Remark], failures: Sequence[str] = ()) -> str:
    """One line each."""
    return "\n".join(f"{printable(each.filename)}:{each.row}: [{each.code}] {each.message}" for each in remarks)


def azure(remarks: Iterable[Remark], failures: Sequence[str] = ()) -> str:
    """Logging commands of Azure Pipelines, which know errors and warnings; ``failures`` are about no file's row."""
    rows = [f"##vso[task.logissue type=error;]{_azure_text(message)}" for message in failures]
    for each in remarks:
        kind = "error" if each.severity is Severity.ERROR else "warning"
        place = f"sourcepath={_azure_property(each.filename)};linenumber={each.row};columnnumber={each.column}"
        rows.append(f"##vso[task.logissue type={kind};{place};code={each.code};]{_azure_text(each.message)}")
    return "\n".join(rows)


def _azure_text(text: str) -> str:
    """Text of a logging command."""
    return text.replace("%", "%AZP25").replace("\r", "%0D").replace("\n", "%0A")


def _azure_property(text: str) -> str:
    return _azure_text(text).replace(";", "%3B").replace("]", "%5D")


def grouped(remarks: Iterable[Remark], failures: Sequence[str] = ()) -> str:
    """The findings of each file below its name; rows and columns are aligned."""
    blocks: list[str] = []
    for name, group in groupby(remarks, attrgetter("filename")):
        found = list(group)
        rows, columns = (max(len(str(getattr(each, part))) for each in found) for part in ("row", "column"))
        blocks.append(f"{printable(name)}:")
        for each in found:
            fixable = "[*] " if each.is_fixable else ""
            blocks.append(f"  {each.row:>{rows}}:{each.column:<{columns}} {each.code} {fixable}{each.message}")
        blocks.append("")
    return "\n".join(blocks)


def junit(remarks: Sequence[Remark], failures: Sequence[str] = ()) -> str:
    """A suite for each file, a case for each finding; what was not seen, and ``failures``, are errors."""
    root = ElementTree.Element("testsuites", name="tapelint")
    for name, group in groupby(remarks, attrgetter("filename")):
        found = list(group)
        suite = _suite(root, name, Counter(each.outcome for each in found))
        for each in found:
            case = _case(suite, f"{_PACKAGE}.{each.code}", splitext(name)[0])
            case.attrib |= {"line": str(each.row), "column": str(each.column)}
            text = ElementTree.SubElement(case, each.outcome, message=_xml(each.message))
            text.text = _xml(f"line {each.row}, col {each.column}, {each.message}")
    if failures:
        suite = _suite(root, "tapelint", Counter(error=len(failures)))
        for message in failures:
            ElementTree.SubElement(_case(suite, "run", "tapelint"), "error", message=_xml(message))
    if not remarks and not failures:
        _case(_suite(root, "tapelint", Counter(passed=1)), "No errors found", "tapelint")
    for part in ("tests", "failures", "errors"):
        root.attrib[part] = str(sum(int(suite.attrib[part]) for suite in root))
    ElementTree.indent(root, "    ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode")


def _suite(root: ElementTree.Element, name: str, outcomes: Counter[str]) -> ElementTree.Element:
    counts = {
        "tests": outcomes.total(),
        "disabled": outcomes["skipped"],
        "errors": outcomes["error"],
        "failures": outcomes["failure"],
    }
    numbers = {key: str(count) for key, count in counts.items()}
    return ElementTree.SubElement(root, "testsuite", {"name": _xml(name), **numbers, "package": _PACKAGE})


def _case(suite: ElementTree.Element, name: str, of: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", {"name": name, "classname": _xml(of)})


def _xml(text: str) -> str:
    """Text that XML can hold: no control characters, no halves of characters."""
    return printable(text).encode("utf-8", "replace").decode()


_COMMANDS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "notice",
    Severity.HINT: "notice",
}
_GRAVITY = {
    Severity.ERROR: "critical",
    Severity.WARNING: "major",
    Severity.INFORMATION: "minor",
    Severity.HINT: "info",
}


def github(diagnostic: Diagnostic) -> str:
    """One finding as a workflow command."""
    span = diagnostic.span
    properties = {
        "title": f"{diagnostic.code} ({diagnostic.name})",
        "file": diagnostic.filename,
        "line": span.row,
        "endLine": span.end_row,
    }
    if span.row == span.end_row:  # columns of a finding over several rows are refused
        properties |= {"col": span.column, "endColumn": span.end_column}
    listed = ",".join(f"{name}={_github_property(str(value))}" for name, value in properties.items())
    return f"::{_COMMANDS[diagnostic.severity]} {listed}::{_github_text(chr(10).join(diagnostic.lines))}"


def _github_text(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _github_property(text: str) -> str:
    return _github_text(text).replace(":", "%3A").replace(",", "%2C")


def gitlab(diagnostic: Diagnostic, row: str, seen: Counter[str]) -> dict[str, Any]:
    """One finding as an entry of a code quality report; ``row`` is the text there, ``seen`` counts what is alike.

    The fingerprint does not depend on what stands above: it is the same when the finding moves.
    """
    what = f"{diagnostic.code}\0{_relative(diagnostic.filename)}\0{row.strip()}"
    seen[what] += 1
    return _entry(diagnostic, f"{what}\0{seen[what]}", _GRAVITY[diagnostic.severity])


def gitlab_notice(diagnostic: Diagnostic) -> dict[str, Any]:
    """What was not seen of a file, as an entry: no defect of the code, so no more than an information; a merge request
    shows it where it is new, and a file has one of each code, whatever it names.
    """
    return _entry(diagnostic, f"{diagnostic.code}\0{_relative(diagnostic.filename)}", "info")


def _relative(filename: str) -> str:
    """The path from the current folder, with slashes: GitLab drops entries with absolute ones. A file that is not below
    it keeps its path.
    """
    path = os.path.relpath(filename) if os.path.isabs(filename) else os.path.normpath(filename)
    return (filename if path.startswith(os.pardir) else path).replace(os.sep, "/")


def _entry(diagnostic: Diagnostic, what: str, gravity: str) -> dict[str, Any]:
    return {
        "description": f"{diagnostic.code} {diagnostic.message}",
        "check_name": diagnostic.code,
        "fingerprint": hashlib.sha256(what.encode("utf-8", "backslashreplace")).hexdigest(),
        "severity": gravity,
        "location": {
            "path": _relative(diagnostic.filename),
            "lines": {"begin": diagnostic.span.row, "end": diagnostic.span.end_row},
        },
    }


_SEVERITIES = {
    Severity.ERROR: "ERROR",
    Severity.WARNING: "WARNING",
    Severity.INFORMATION: "INFO",
    Severity.HINT: "INFO",
}


def as_rdjson(diagnostics: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The document of a run."""
    source = {"name": "tapelint", "url": __url__} if __url__ else {"name": "tapelint"}
    return {"source": source, "severity": "WARNING", "diagnostics": list(diagnostics)}


def as_entry(diagnostic: Diagnostic, rows: Sequence[str] = (), offer: Offer = NO_OFFER) -> dict[str, Any]:
    """One finding; ``rows`` are those of its file. It suggests the edits of the best fix, where all are in that file:
    who accepts a suggestion chooses it, so it need not be safe.
    """
    entry: dict[str, Any] = {
        "message": "\n".join(diagnostic.lines),
        "location": {"path": diagnostic.filename, "range": _range(diagnostic.span, rows)},
        "severity": _SEVERITIES[diagnostic.severity],
        "code": {"value": diagnostic.code, "url": diagnostic.url} if diagnostic.url else {"value": diagnostic.code},
    }
    best = next((fix for fix in offer.fixes if fix.preferred), None)
    if best and not best.others:
        edits = [{"range": _range(edit.span, rows), "text": edit.content} for edit in best.edits]
        entry["suggestions"] = edits
    return entry


def _range(span: Span, rows: Sequence[str]) -> dict[str, dict[str, int]]:
    return {
        "start": {"line": span.row, "column": _bytes(rows, span.row, span.column)},
        "end": {"line": span.end_row, "column": _bytes(rows, span.end_row, span.end_column)},
    }


def _bytes(rows: Sequence[str], row: int, column: int) -> int:
    before = rows[row - 1][: column - 1] if row <= len(rows) else ""
    return column + len(before.encode("utf-8", "replace")) - len(before)


def as_json(
    diagnostic: Diagnostic, offer: Offer = NO_OFFER, cells: Sequence[Cell] = (), notebook: str | None = None
) -> dict[str, Any]:
    """One finding as plain data; ``cells`` are those of ``notebook``, the checked file, by default the one
    that it is in.
    """
    notebook = diagnostic.filename if notebook is None else notebook

    def where(span: Span, filename: str) -> dict[str, dict[str, int]]:
        return _where(span, cells if filename == notebook else ())

    return {
        "code": diagnostic.code,
        "name": diagnostic.name,
        "severity": diagnostic.severity.word,
        "message": diagnostic.message,
        "raises": diagnostic.raises,
        "filename": diagnostic.filename,
        **where(diagnostic.span, diagnostic.filename),
        "related": [
            {
                "message": link.message,
                "short": link.short,
                "filename": link.filename,
                **where(link.span, link.filename),
            }
            for link in diagnostic.related
        ],
        "help": diagnostic.help,
        "fixes": [
            {
                "title": fix.title,
                "effect": fix.effect or None,
                "applicability": "safe" if fix.applicability == "safe" else "unsafe",
                "manual": fix.applicability == "manual",
                "preferred": fix.preferred,
                "edits": [
                    {"content": edit.content, "filename": filename, **where(edit.span, filename)}
                    for filename, edit in _edits(fix, notebook)
                ],
            }
            for fix in offer.fixes
        ],
        "no_fix": offer.no_fix,
        "url": diagnostic.url,
        "rests_on": [{"kind": ground.kind, "text": ground.text} for ground in diagnostic.rests_on],
    }


def _edits(fix: Fix, checked: str) -> Iterator[tuple[str, Edit]]:
    """The edits of a fix, each with its file."""
    yield from ((checked, edit) for edit in fix.edits)
    yield from ((other.filename, edit) for other in fix.others for edit in other.edits)


def _where(span: Span, cells: Sequence[Cell]) -> dict[str, dict[str, int]]:
    cell = cell_at(cells, span.row)
    inside = {}
    if cell is not None:
        span, inside = cell.own(span), {"cell": cell.number}
    return {
        "location": {**inside, "row": span.row, "column": span.column},
        "end_location": {**inside, "row": span.end_row, "column": span.end_column},
    }
