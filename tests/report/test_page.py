"""A rule's page at a terminal."""

from __future__ import annotations

from tapelint.report.page import page
from tapelint.rules import all_rules


def test_blocks_of_cells_and_callers_are_code() -> None:
    rules = {rule.code: rule for rule in all_rules()}
    text = page(rules["TL108"], [*rules.values()])
    assert "```" not in text
    assert "    loss.backward()  # <- information\n" in text
