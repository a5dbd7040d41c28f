"""Reports for other tools have the structure that these tools publish."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tapelint import analysis
from tapelint.report import for_ci
from tapelint.report.as_sarif import as_failure, as_notification, as_result, as_sarif
from tapelint.report.topics import all_topics
from tapelint.rules import all_rules

PROGRAM = """\
import torch
x = torch.ones(3, requires_grad=True)
y = x.exp()
y += 1
y.sum().backward()
"""


def report(path: str) -> analysis.Report:
    return analysis.analyse(PROGRAM, path)


# What the published schema of SARIF 2.1.0 requires of the objects in use: the properties that are needed, and of all
# that may be there their type, or the object they are.
SARIF: dict[str, tuple[set[str], dict[str, Any]]] = {
    "log": ({"version", "runs"}, {"version": str, "$schema": str, "runs": ["run"]}),
    "run": ({"tool"}, {"tool": "tool", "columnKind": str, "results": ["result"], "invocations": ["invocation"]}),
    "tool": ({"driver"}, {"driver": "driver"}),
    "driver": ({"name"}, {"name": str, "version": str, "rules": ["rule"], "notifications": ["rule"]}),
    "rule": (
        {"id"},
        {
            "id": str,
            "name": str,
            "shortDescription": "text",
            "help": "text",
            "helpUri": str,
            "defaultConfiguration": "configuration",
        },
    ),
    "configuration": (set(), {"enabled": bool}),
    "invocation": (
        {"executionSuccessful"},
        {"executionSuccessful": bool, "toolExecutionNotifications": ["notification"]},
    ),
    "notification": (
        {"message"},
        {
            "descriptor": "descriptor",
            "level": {"none", "note", "warning", "error"},
            "message": "text",
            "locations": ["location"],
        },
    ),
    "descriptor": (set(), {"id": str}),
    "text": ({"text"}, {"text": str, "markdown": str}),
    "result": (
        {"message"},
        {
            "ruleId": str,
            "level": {"none", "note", "warning", "error"},
            "message": "text",
            "locations": ["location"],
            "codeFlows": ["flow"],
            "fixes": ["fix"],
        },
    ),
    "location": (set(), {"physicalLocation": "place", "message": "text"}),
    "place": ({"artifactLocation"}, {"artifactLocation": "artifact", "region": "region"}),
    "artifact": (set(), {"uri": str}),
    "region": (set(), {"startLine": int, "startColumn": int, "endLine": int, "endColumn": int}),
    "flow": ({"threadFlows"}, {"threadFlows": ["thread"]}),
    "thread": ({"locations"}, {"locations": ["step"]}),
    "step": (set(), {"location": "location"}),
    "fix": ({"artifactChanges"}, {"description": "text", "artifactChanges": ["change"]}),
    "change": ({"artifactLocation", "replacements"}, {"artifactLocation": "artifact", "replacements": ["replacement"]}),
    "replacement": ({"deletedRegion"}, {"deletedRegion": "region", "insertedContent": "text"}),
}


def conforms(value: Any, kind: Any) -> None:
    if isinstance(kind, list):
        assert isinstance(value, list)
        for entry in value:
            conforms(entry, kind[0])
    elif isinstance(kind, set):
        assert value in kind
    elif isinstance(kind, type):
        assert type(value) is kind
        assert kind is not int or value >= 1
    else:
        needed, known = SARIF[kind]
        assert needed <= value.keys() <= known.keys(), kind
        for name, part in value.items():
            conforms(part, known[name])


@pytest.mark.parametrize(("path", "uri"), [("a b/é.py", "a%20b/%C3%A9.py"), ("/x/a.py", "file:///x/a.py")])
def test_sarif(path: str, uri: str) -> None:
    found = report(path)
    results = [as_result(d, analysis.fixes(found, d)) for d in found.diagnostics]
    log = as_sarif(results, all_rules())
    conforms(log, "log")
    assert log["version"] == "2.1.0" and log["runs"][0]["columnKind"] == "unicodeCodePoints"
    (result,) = log["runs"][0]["results"]
    assert result["ruleId"] in {rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]}
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": uri},
        "region": {"startLine": 4, "startColumn": 1, "endLine": 4, "endColumn": 7},
    }
    assert len(result["codeFlows"][0]["threadFlows"][0]["locations"]) == len(found.diagnostics[0].related)
    assert result["fixes"][0]["artifactChanges"][0]["replacements"]


def test_sarif_without_findings() -> None:
    conforms(as_sarif([], all_rules()), "log")


def test_sarif_of_notices() -> None:
    """Notifications refer to descriptions of their own, which are no rules."""
    (notice,) = analysis.analyse(f"{PROGRAM}z = (\n", "a.py").notices
    told = [as_notification(notice.diagnostic, notice), as_failure("b.py: no such file or folder")]
    log = as_sarif([], all_rules(), told, all_topics(), False)
    conforms(log, "log")
    (run,) = log["runs"]
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    assert [each["level"] for each in invocation["toolExecutionNotifications"]] == ["warning", "error"]
    described = {each["id"] for each in run["tool"]["driver"]["notifications"]}
    assert invocation["toolExecutionNotifications"][0]["descriptor"]["id"] in described
    assert described.isdisjoint(rule["id"] for rule in run["tool"]["driver"]["rules"])


def test_github() -> None:
    (found,) = report(str(Path("a,b:c.py"))).diagnostics
    line = for_ci.github(found)
    start = "::error title=TL201 (saved-tensor-modified),file=a%2Cb%3Ac.py,line=4,endLine=4,col=1,endColumn=7::Writes"
    assert line.startswith(start)
    assert "\n" not in line


def test_gitlab() -> None:
    (found,) = report("./a.py").diagnostics
    seen: Counter[str] = Counter()
    first, second = (for_ci.gitlab(found, "y += 1", seen) for _ in range(2))
    assert set(first) == {"description", "check_name", "fingerprint", "severity", "location"}
    assert first["location"] == {"path": "a.py", "lines": {"begin": 4, "end": 4}}
    assert first["severity"] in {"info", "minor", "major", "critical", "blocker"}
    assert first["fingerprint"] != second["fingerprint"]
