"""Reports for other tools have the structure that these tools publish."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

from tapelint import analysis
from tapelint.report import for_tools
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


# As OASIS publishes it (sarif-2.1/schema/sarif-schema-2.1.0.json of github.com/oasis-tcs/sarif-spec, errata 01).
# Copyright OASIS Open; governed by the OASIS IPR Policy. The LICENSE.md of that repository grants no licence of its
# own: it names the OASIS policies, and "RF on RAND Terms" as the IPR mode of the committee.
SCHEMA = json.loads((Path(__file__).parent / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))


def conforms(log: dict[str, Any]) -> None:
    problems = [f"{each.json_path}: {each.message}" for each in Draft4Validator(SCHEMA).iter_errors(log)]
    assert not problems, "\n".join(problems)


def steps_of(result: dict[str, Any]) -> list[dict[str, Any]]:
    """The steps of a result's code flow."""
    return [step for flow in result.get("codeFlows", ()) for step in flow["threadFlows"][0]["locations"]]


def run_of(*results: dict[str, Any]) -> dict[str, Any]:
    log = as_sarif(results, all_rules(), topics=all_topics())
    conforms(log)
    return log["runs"][0]


@pytest.mark.parametrize(("path", "uri"), [("a b/é.py", "a%20b/%C3%A9.py"), ("/x/a.py", "file:///x/a.py")])
def test_sarif(path: str, uri: str) -> None:
    found = report(path)
    results = [as_result(d, found.source.lines, analysis.fixes(found, d)) for d in found.diagnostics]
    log = as_sarif(results, all_rules())
    conforms(log)
    assert log["version"] == "2.1.0" and log["runs"][0]["columnKind"] == "unicodeCodePoints"
    (result,) = log["runs"][0]["results"]
    assert result["ruleId"] in {rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]}
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": uri},
        "region": {"startLine": 4, "startColumn": 1, "endLine": 4, "endColumn": 7, "snippet": {"text": "y += 1"}},
        "contextRegion": {"startLine": 2, "endLine": 5, "snippet": {"text": PROGRAM.partition("\n")[2].rstrip()}},
    }
    assert log["runs"][0]["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "TL201"
    assert len(steps_of(result)) == len(found.diagnostics[0].related)
    shown = [step["location"]["physicalLocation"]["region"]["snippet"]["text"] for step in steps_of(result)]
    assert shown == ["x.exp()", "y += 1", "y.sum().backward()"]
    assert result["fixes"][0]["artifactChanges"][0]["replacements"]


PAGES = sorted((Path(__file__).resolve().parents[1] / "mdtest" / "rules").glob("tl*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_sarif_of_each_rule(page: Path) -> None:
    """The findings in the programs of its page conform, with their stories and fixes; all that is shown is the text."""
    results = []
    for block in re.findall(r"^```py\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[:3]:
        found = analysis.analyse(block, "a.py")
        results += [as_result(d, found.source.lines, analysis.fixes(found, d)) for d in found.diagnostics]
        for result in results[len(results) - len(found.diagnostics) :]:
            place = result["locations"][0]["physicalLocation"]
            assert place["region"]["snippet"]["text"] in place["contextRegion"]["snippet"]["text"] in block
            for step in steps_of(result):
                at = step["location"]["physicalLocation"]
                assert at["region"]["snippet"]["text"] in at["contextRegion"]["snippet"]["text"] in block
    run = run_of(*results)
    told = [result["partialFingerprints"]["tapelint/v1"] for result in run["results"]]
    assert len({*told}) == len(told)


def test_sarif_knows_a_finding_again_that_has_moved() -> None:
    def prints(program: str) -> list[str]:
        found = analysis.analyse(program, "a.py")
        results = [as_result(d, found.source.lines) for d in found.diagnostics]
        return [each["partialFingerprints"]["tapelint/v1"] for each in run_of(*results)["results"]]

    first = prints(PROGRAM)
    assert first == prints(PROGRAM.replace("x =", "\n\n# a remark\nx ="))
    assert first != prints(PROGRAM.replace("y += 1", "y += 2"))


def test_sarif_says_which_fixes_are_safe() -> None:
    found = report("a.py")
    (result,) = (as_result(d, found.source.lines, analysis.fixes(found, d)) for d in found.diagnostics)
    best, *others = result["fixes"]
    assert best["properties"] == {"applicability": "safe", "manual": False, "preferred": True}
    assert not any(each["properties"]["preferred"] for each in others)


def test_sarif_describes_each_rule_as_github_reads_it() -> None:
    driver = run_of()["tool"]["driver"]
    assert "informationUri" not in driver or driver["informationUri"]
    for each in (*driver["rules"], *driver["notifications"]):
        described = each["fullDescription"]["text"]  # GitHub takes 1024 characters
        assert (
            described.startswith(("Reports ", "Says that "))
            and described.endswith((".", ":"))
            and len(described) < 1025
        )
        assert each["properties"]["precision"] in ("very-high", "high", "medium", "low")
        assert each["properties"]["problem.severity"] in ("error", "warning", "recommendation")
        assert "security-severity" not in each["properties"]


def test_sarif_without_findings() -> None:
    conforms(as_sarif([], all_rules()))


def test_sarif_of_notices() -> None:
    """Notifications refer to descriptions of their own, which are no rules."""
    (notice,) = analysis.analyse(f"{PROGRAM}z = (\n", "a.py").notices
    told = [as_notification(notice.diagnostic, notice), as_failure("b.py: no such file or folder")]
    log = as_sarif([], all_rules(), told, all_topics(), False)
    conforms(log)
    (run,) = log["runs"]
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    assert [each["level"] for each in invocation["toolExecutionNotifications"]] == ["warning", "error"]
    described = {each["id"] for each in run["tool"]["driver"]["notifications"]}
    assert invocation["toolExecutionNotifications"][0]["descriptor"]["id"] in described
    assert described.isdisjoint(rule["id"] for rule in run["tool"]["driver"]["rules"])


def test_github() -> None:
    (found,) = report(str(Path("a,b:c.py"))).diagnostics
    line = for_tools.github(found)
    start = "::error title=TL201 (saved-tensor-modified),file=a%2Cb%3Ac.py,line=4,endLine=4,col=1,endColumn=7::Writes"
    assert line.startswith(start)
    assert "\n" not in line


def test_gitlab() -> None:
    (found,) = report("./a.py").diagnostics
    seen: Counter[str] = Counter()
    first, second = (for_tools.gitlab(found, "y += 1", seen) for _ in range(2))
    assert set(first) == {"description", "check_name", "fingerprint", "severity", "location"}
    assert first["location"] == {"path": "a.py", "lines": {"begin": 4, "end": 4}}
    assert first["severity"] in {"info", "minor", "major", "critical", "blocker"}
    assert first["fingerprint"] != second["fingerprint"]


def test_gitlab_takes_paths_from_the_root_of_the_project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """And the same file has the same fingerprint however it was named."""
    monkeypatch.chdir(tmp_path)
    named = ["a.py", "./a.py", str(tmp_path / "a.py"), "pkg/../a.py"]
    entries = [for_tools.gitlab(found, "y += 1", Counter()) for name in named for found in report(name).diagnostics]
    assert {entry["location"]["path"] for entry in entries} == {"a.py"}
    assert len({entry["fingerprint"] for entry in entries}) == 1


def test_github_says_what_to_do() -> None:
    (found,) = report("a.py").diagnostics
    assert found.help and found.help.split("`")[0] in for_tools.github(found)
