"""SARIF 2.1.0, which GitHub, GitLab and editors read: https://docs.oasis-open.org/sarif/sarif/v2.1.0/

    $schema, version, runs: [{tool: {driver: {name, version, rules, notifications}}, columnKind, results,
                              invocations: [{executionSuccessful, toolExecutionNotifications}]}]

The story of a finding is its code flow; fixes are those that JSON has, with ``applicability``, ``manual`` and
``preferred`` in their properties. What was not seen is a notification. ``partialFingerprints`` say which results of
two runs are the same: they name the rule, the file and the text of the row, not its number. There is no
``security-severity``: GitHub would list the findings as vulnerabilities.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .. import __url__, __version__
from ..rules import Rule, all_rules
from ..severity import Severity
from ..source import Edit, Span
from .diagnostic import Diagnostic, Fix, with_effect
from .facts import severities
from .notice import Notice
from .topics import all_topics

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_FINGERPRINT = "tapelint/v1"
_CONTEXT = 2
"""Rows above and below a finding that its context has."""
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
    described = [_rule(rule) for rule in rules]
    index = {rule["id"]: number for number, rule in enumerate(described)}
    driver = {
        "name": "tapelint",
        "version": __version__,
        **({"informationUri": __url__} if __url__ else {}),
        "rules": described,
        "notifications": [_rule(topic) for topic in topics],
    }
    invocation = {"executionSuccessful": is_successful, "toolExecutionNotifications": list(notifications)}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": [{**result, "ruleIndex": index[result["ruleId"]]} for result in _told_apart(results)],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _told_apart(results: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The results, those with the same fingerprint numbered."""
    seen: Counter[str] = Counter()
    for result in results:
        print_ = result["partialFingerprints"][_FINGERPRINT]
        seen[print_] += 1
        yield {**result, "partialFingerprints": {_FINGERPRINT: f"{print_}:{seen[print_]}"}}


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


def as_result(
    diagnostic: Diagnostic,
    rows: Sequence[str],
    fixes: Iterable[Fix] = (),
    checked: str | None = None,
    rows_of_steps: Sequence[Sequence[str]] = (),
) -> dict[str, Any]:
    """One finding of the analysis of the file ``checked``, by default the one that it is in, whose text is ``rows``.
    ``rows_of_steps`` are the texts that the steps of its story are in, by default that one, too.
    """
    row = rows[diagnostic.span.row - 1].strip() if diagnostic.span.row <= len(rows) else ""
    what = f"{diagnostic.code}\0{_uri(diagnostic.filename)}\0{row}"
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": "\n".join(diagnostic.lines)},
        "locations": [_location(diagnostic.filename, diagnostic.span, rows)],
        "partialFingerprints": {
            _FINGERPRINT: hashlib.sha256(what.encode("utf-8", "backslashreplace")).hexdigest()[:32]
        },
    }
    if diagnostic.related:
        steps = [
            {"location": {**_location(link.filename, link.span, text), "message": {"text": link.message}}}
            for link, text in zip(diagnostic.related, rows_of_steps or repeat(rows), strict=False)
        ]
        result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    changes = [_fix(diagnostic.filename if checked is None else checked, fix) for fix in fixes]
    return {**result, "fixes": changes} if changes else result


def _rule(rule: Rule) -> dict[str, Any]:
    """A rule or a topic of notices; GitHub filters by the properties."""
    gravest = min(severities(rule), default=Severity.HINT)
    described = {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": _described(rule.docs)},
        "help": {"text": rule.docs, "markdown": rule.docs},
        "defaultConfiguration": {"enabled": rule.default, "level": _LEVELS[gravest]},
        "properties": {
            "tags": ["pytorch", "autograd", "maintainability" if gravest > Severity.WARNING else "correctness"],
            "precision": "very-high" if gravest is Severity.ERROR else "high",
            "problem.severity": {"error": "error", "warning": "warning"}.get(_LEVELS[gravest], "recommendation"),
        },
    }
    return {**described, "helpUri": rule.url} if rule.url else described


def _described(docs: str) -> str:
    """The first paragraph on what the rule reports, or the notice says."""
    section = re.split(r"^## What (?:is reported|it says)$", docs, maxsplit=1, flags=re.MULTILINE)[-1]
    return " ".join(section.strip().partition("\n\n")[0].split())


def _fix(checked: str, fix: Fix) -> dict[str, Any]:
    own = [_change(checked, fix.edits)] if fix.edits else []
    changes = [*own, *(_change(other.filename, other.edits) for other in fix.others)]
    how = {
        "applicability": "safe" if fix.applicability == "safe" else "unsafe",
        "manual": fix.applicability == "manual",
        "preferred": fix.preferred,
    }
    return {"description": {"text": with_effect(fix.title, fix.effect)}, "artifactChanges": changes, "properties": how}


def _change(filename: str, edits: Iterable[Edit]) -> dict[str, Any]:
    replacements = [{"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.content}} for edit in edits]
    return {"artifactLocation": {"uri": _uri(filename)}, "replacements": replacements}


def _location(filename: str, span: Span, rows: Sequence[str] = ()) -> dict[str, Any]:
    """A place; with the ``rows`` of its file also what stands there and around it."""
    region: dict[str, Any] = {**_region(span)}
    place = {"artifactLocation": {"uri": _uri(filename)}, "region": region}
    if span.end_row <= len(rows):
        own = [*rows[span.row - 1 : span.end_row]]
        own[-1] = own[-1][: span.end_column - 1]
        own[0] = own[0][span.column - 1 :]
        region["snippet"] = {"text": "\n".join(own)}
        last = len(rows) if rows[-1] or span.end_row == len(rows) else len(rows) - 1
        begin, end = max(1, span.row - _CONTEXT), min(last, span.end_row + _CONTEXT)
        around = {"startLine": begin, "endLine": end, "snippet": {"text": "\n".join(rows[begin - 1 : end])}}
        place["contextRegion"] = around
    return {"physicalLocation": place}


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


def sarif_log(
    results: Sequence[dict[str, Any]],
    notifications: Sequence[dict[str, Any]],
    failures: Sequence[str],
    is_successful: bool,
) -> str:
    """A run as one log, which lists all rules; ``failures`` are messages that have no notification of their own."""
    notes = [*notifications, *map(as_failure, failures)]
    return json.dumps(as_sarif(results, all_rules(), notes, all_topics(), is_successful), indent=2)
