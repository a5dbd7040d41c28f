"""SARIF 2.1.0, which GitHub, GitLab and editors read: https://docs.oasis-open.org/sarif/sarif/v2.1.0/

    $schema, version, runs: [{tool: {driver: {name, version, rules}}, columnKind, results}]

The story of a finding is its code flow; fixes are those that JSON has.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .. import __version__
from ..rules import Rule
from ..source import Span
from .diagnostic import Diagnostic, Fix

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "information": "note", "hint": "note"}


def as_sarif(results: Sequence[dict[str, Any]], rules: Iterable[Rule]) -> dict[str, Any]:
    """The log of one run with the results of all its files."""
    described = [_rule(rule) for rule in rules]
    driver = {"name": "tapelint", "version": __version__, "rules": described}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": list(results)}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def as_result(diagnostic: Diagnostic, fixes: Iterable[Fix] = ()) -> dict[str, Any]:
    """One finding."""
    advice = f"\n{diagnostic.help}" if diagnostic.help else ""
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": diagnostic.message + advice},
        "locations": [_location(diagnostic.filename, diagnostic.span)],
    }
    if diagnostic.related:
        steps = [
            {"location": {**_location(link.filename, link.span), "message": {"text": link.message}}}
            for link in diagnostic.related
        ]
        result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    changes = [_fix(diagnostic.filename, fix) for fix in fixes]
    return {**result, "fixes": changes} if changes else result


def _rule(rule: Rule) -> dict[str, Any]:
    described = {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "help": {"text": rule.docs, "markdown": rule.docs},
        "defaultConfiguration": {"enabled": rule.default},
    }
    return {**described, "helpUri": rule.url} if rule.url else described


def _fix(filename: str, fix: Fix) -> dict[str, Any]:
    replacements = [
        {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.content}} for edit in fix.edits
    ]
    change = {"artifactLocation": {"uri": _uri(filename)}, "replacements": replacements}
    return {"description": {"text": fix.title}, "artifactChanges": [change]}


def _location(filename: str, span: Span) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(filename)}, "region": _region(span)}}


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.row,
        "startColumn": span.column,
        "endLine": span.end_row,
        "endColumn": span.end_column,
    }


def _uri(filename: str) -> str:
    """Relative names stay so: they are taken from where the run was started."""
    return Path(filename).as_uri() if os.path.isabs(filename) else quote(os.fsencode(filename.replace(os.sep, "/")))
