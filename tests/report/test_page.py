"""A rule's page, at a terminal, in an editor and on the site."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapelint.report.page import markdown_page, page
from tapelint.rules import all_rules

RULES = Path(__file__).resolve().parents[2] / "docs" / "rules"


@pytest.mark.parametrize("code", ["TL102", "TL301", "TL404"])
def test_a_page_begins_with_what_happens_and_ends_with_the_fixes(code: str) -> None:
    """At the terminal, in an editor and on the site: whoever asks for a rule does not ask for eleven fixes."""
    rules = {rule.code: rule for rule in all_rules()}
    rule, every = rules[code], [*rules.values()]
    why = "Why PyTorch fails" if rule.raises else "What PyTorch does"
    headings = [why, "Example", "Use instead", "What is reported", "Severity and settings", "Fixes"]
    for text in (page(rule, every), markdown_page(rule, every), (RULES / f"{code}.md").read_text(encoding="utf-8")):
        found = [text.index(f"{heading}\n") for heading in headings]
        assert found == sorted(found)
        assert all(text.index(message) < found[0] for message in rule.raises)


def test_an_item_of_a_list_begins_a_row() -> None:
    rules = {rule.code: rule for rule in all_rules()}
    rows = page(rules["TL901"], [*rules.values()]).splitlines()
    assert sum(row.startswith("  - that") for row in rows) == 2


def test_blocks_of_cells_and_callers_are_code() -> None:
    rules = {rule.code: rule for rule in all_rules()}
    text = page(rules["TL108"], [*rules.values()])
    assert "```" not in text
    assert "    loss.backward()  # <- information\n" in text
