"""docs/rules is made of the rules: nothing stale, nothing left over, and PyTorch's error texts lead there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tools.docs.__main__ import RULES, generated, left_over
from tools.docs.rulepages import chapter, messages

import tapelint
from mdspec import read_specification
from tapelint.report.facts import purposes, severities
from tapelint.rules import Rule, all_rules

by_rule = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)


def test_the_pages_are_fresh() -> None:
    stale = [path.name for path, text in generated().items() if path.read_text(encoding="utf-8") != text]
    assert not stale and not left_over(), "run `python -m tools.docs` and look at the difference"


@by_rule
def test_messages_in_the_code_are_found(rule: Rule) -> None:
    assert severities(rule)
    assert all(text.endswith(".") for text in purposes(rule).values())


@by_rule
def test_messages_of_examples_are_declared(rule: Rule, tmp_path: Path) -> None:
    """So that the index by error texts has it."""
    page = tmp_path / "page.md"
    page.write_text(rule.docs, encoding="utf-8")
    for block in read_specification(page):
        if block.verdict.kind == "raises" and any(e.rule == rule.name for e in block.expected):
            words = block.verdict.substring
            assert any(words in message or message in words for message in rule.raises), (words, rule.raises)


@pytest.mark.parametrize("rule", [rule for rule in all_rules() if rule.events], ids=lambda rule: rule.code)
def test_a_page_says_that_there_is_no_fix_where_none_is_known(rule: Rule) -> None:
    safety = rule.docs.partition("## Fix safety\n")[2]
    assert bool(re.match(r"There is no (automatic )?fix:", safety)) == (not purposes(rule))


def test_the_page_of_error_texts_has_every_declared_message() -> None:
    text = (RULES.parent / "errors.md").read_text(encoding="utf-8")
    assert all(f"\n## {message}\n" in text for message in messages())
    assert chapter("a leaf Variable that requires grad is being used", {"a leaf Variable": "here"}) == "here"


def test_links_of_rules_lead_to_the_project() -> None:
    assert bool(tapelint.__documentation__) == bool(tapelint.__url__)
    assert all(rule.url is None or rule.url.endswith(f"/rules/{rule.code}.md") for rule in all_rules())
