"""A rule's page at a terminal."""

from __future__ import annotations

from tapelint.report.page import page
from tapelint.rules import all_rules


def test_the_story_comes_before_the_fixes() -> None:
    """Eleven fixes are no beginning: whoever asks for a rule wants to know what happens."""
    rules = {rule.code: rule for rule in all_rules()}
    text = page(rules["TL102"], [*rules.values()])
    parts = (
        "Trying to backward",
        "Why PyTorch fails",
        "Example",
        "Use instead",
        "What is reported",
        "Fixes",
        "Keep the graph",
    )
    assert [*map(text.index, parts)] == sorted(map(text.index, parts))


def test_an_item_of_a_list_begins_a_row() -> None:
    rules = {rule.code: rule for rule in all_rules()}
    rows = page(rules["TL901"], [*rules.values()]).splitlines()
    assert sum(row.startswith("  - that") for row in rows) == 2


def test_blocks_of_cells_and_callers_are_code() -> None:
    rules = {rule.code: rule for rule in all_rules()}
    text = page(rules["TL108"], [*rules.values()])
    assert "```" not in text
    assert "    loss.backward()  # <- information\n" in text
