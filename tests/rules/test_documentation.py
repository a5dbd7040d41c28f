"""A rule's documentation is a test: every example fires where it says so, and what it recommends instead is clean."""

from __future__ import annotations

from pathlib import Path

import pytest

from mdjudge import complaints
from mdspec import read_specification
from tapelint.rules import Rule, all_rules

LITERATE = Path(__file__).resolve().parents[1] / "mdtest" / "rules"
SECTIONS = ("## Example", "## Use instead", "## What is reported", "## Fix safety")
FAILS, RUNS, REVIEW = "## Why PyTorch fails", "## What PyTorch does", "## Why it matters"


def blocks(rule: Rule, folder: Path) -> list:
    page = folder / f"{rule.code}.md"
    page.write_text(f"# {rule.name}\n\n{rule.docs}", encoding="utf-8")
    found = read_specification(page)
    for block in found:
        block.rules = frozenset({rule.name})
    return found


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_the_examples_are_true(rule: Rule, tmp_path: Path) -> None:
    examples = blocks(rule, tmp_path)
    assert len(examples) >= 2
    assert [c for c in map(complaints, examples) if c] == []


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_the_documentation_is_complete(rule: Rule) -> None:
    assert [section for section in SECTIONS if section not in rule.docs] == []
    assert rule.code.startswith("TL") and rule.name == rule.name.lower() and " " not in rule.name


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_the_heading_says_whether_pytorch_raises(rule: Rule) -> None:
    fitting = FAILS if rule.raises else REVIEW if rule.review else RUNS
    assert [heading for heading in (FAILS, RUNS, REVIEW) if heading in rule.docs] == [fitting]


def test_codes_and_names_are_unique() -> None:
    assert len({rule.code for rule in all_rules()}) == len({rule.name for rule in all_rules()}) == len(all_rules())


@pytest.mark.parametrize("rule", [rule for rule in all_rules() if rule.events], ids=lambda rule: rule.code)
def test_every_rule_has_literate_tests_of_its_name(rule: Rule) -> None:
    blocks = read_specification(LITERATE / f"{rule.code.lower()}_{rule.name.replace('-', '_')}.md")
    assert any(claim.rule == rule.name for block in blocks for claim in block.expected)
