"""SARIF 2.1.0, which GitHub, GitLab and editors read: https://docs.oasis-open.org/sarif/sarif/v2.1.0/

    $schema, version, runs: [{tool: {driver: {name, version, rules, notifications}}, columnKind, results,
                              invocations: [{executionSuccessful, toolExecutionNotifications}]}]

The story of a finding is its code flow; fixes are those that JSON has. What was not seen is a notification.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .. import __version__
from ..rules import Rule
from ..severity import Severity
from ..source import Edit, Span
from .diagnostic import Diagnostic, Fix
from .notice import Notice

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "note",
    Severity.HINT: "note",
}


def as_sarif(
    results: Sequence[dict[str, Any]],
    rules: Iterable[Rule],
    notifications: Sequence[dict[str, Any]] = (),
    topics: Iterable[Rule] = (),
    is_successful: bool = True,
) -> dict[str, Any]:
    """The log of one run with the results of all its files, and what was not seen of them; ``topics`` are what that can
    be about. It ``is_successful`` unless something could not be done.
    """
    driver = {
        "name": "tapelint",
        "version": __version__,
        "rules": [_rule(rule) for rule in rules],
        "notifications": [_rule(topic) for topic in topics],
    }
    invocation = {"executionSuccessful": is_successful, "toolExecutionNotifications": list(notifications)}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": list(results),
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def as_notification(diagnostic: Diagnostic, notice: Notice) -> dict[str, Any]:
    """What was not seen of a file; ``diagnostic`` is how it is reported. SARIF has an error for what ended a part of
    the run.
    """
    others = [place for place in diagnostic.related if place.span != diagnostic.span]
    places = [(diagnostic.filename, diagnostic.span), *((place.filename, place.span) for place in others)]
    return {
        "descriptor": {"id": diagnostic.code},
        "level": "error" if notice.kind.is_failure else _LEVELS[diagnostic.severity],
        "message": {"text": notice.sentence},
        "locations": [_location(*place) for place in places],
    }


def as_failure(message: str) -> dict[str, Any]:
    """What could not be done and is about no file that was checked."""
    return {"level": "error", "message": {"text": message}}


def as_result(diagnostic: Diagnostic, fixes: Iterable[Fix] = (), checked: str | None = None) -> dict[str, Any]:
    """One finding of the analysis of the file ``checked``, by default the one that it is in."""
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": "\n".join(diagnostic.lines)},
        "locations": [_location(diagnostic.filename, diagnostic.span)],
    }
    if diagnostic.related:
        steps = [
            {"location": {**_location(link.filename, link.span), "message": {"text": link.message}}}
            for link in diagnostic.related
        ]
        result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    changes = [_fix(diagnostic.filename if checked is None else checked, fix) for fix in fixes]
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


def _fix(checked: str, fix: Fix) -> dict[str, Any]:
    own = [_change(checked, fix.edits)] if fix.edits else []
    changes = [*own, *(_change(other.filename, other.edits) for other in fix.others)]
    return {"description": {"text": fix.title}, "artifactChanges": changes}


def _change(filename: str, edits: Iterable[Edit]) -> dict[str, Any]:
    replacements = [{"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.content}} for edit in edits]
    return {"artifactLocation": {"uri": _uri(filename)}, "replacements": replacements}


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
