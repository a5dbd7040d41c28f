"""The few words of a step, which editors show behind its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from mdspec import read_specification
from tapelint.analysis import analyse
from tapelint.report.diagnostic import Diagnostic
from tapelint.rules import Rule, all_rules

LONGEST = 60

WRITTEN = """
import torch
w = torch.ones(3, requires_grad=True)
h = torch.tanh(w)
h += 1
h.sum().backward()
"""

CARRIED = """
import torch
w = torch.ones(3, requires_grad=True)
h = torch.ones(3)
for step in range(3):
    h = torch.tanh(h * w)
    h.sum().backward()
"""


def found(text: str, code: str) -> Diagnostic:
    return next(finding for finding in analyse(text, "train.py").diagnostics if finding.code == code)


def short(finding: Diagnostic) -> list[tuple[int, str]]:
    return [(step.span.row, step.short) for step in finding.steps]


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_every_step_has_a_few_words_and_one_raises_where_pytorch_does(rule: Rule, tmp_path: Path) -> None:
    page = tmp_path / f"{rule.code}.md"
    page.write_text(f"# {rule.name}\n\n{rule.docs}", encoding="utf-8")
    for block in read_specification(page):
        for finding in analyse(block.program, "train.py").diagnostics:
            words = [step.short for step in finding.steps]
            assert all(0 < len(each) <= LONGEST and "\n" not in each for each in words), words
            assert sum("raises" in each for each in words) == bool(finding.raises), words


def test_versions_are_said() -> None:
    assert short(found(WRITTEN, "TL201")) == [
        (4, "saved by `tanh`, version 0"),
        (5, "written, version 1"),
        (6, "needs version 0: raises"),
    ]


def test_the_place_of_a_finding_is_the_last_step_where_pytorch_raises_there() -> None:
    finding = found(CARRIED, "TL102")
    assert finding.span.row == 7 and finding.related[-1].message.endswith("is used again (`step` is 1)")
    assert short(finding)[-3:] == [
        (7, "frees the graph (`step` is 0)"),
        (6, "used again (`step` is 1)"),
        (7, "walks the graph again: raises (`step` is 1)"),
    ]


def test_a_finding_that_raises_nothing_is_no_step_of_its_own() -> None:
    text = WRITTEN.replace("h += 1", "h.data += 1")
    finding = found(text, "TL205")
    assert not finding.raises and finding.steps == finding.related
    assert short(finding)[1] == (5, "changed, version as before")
