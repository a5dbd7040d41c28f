"""Real PyTorch says, word for word, what the rules declare that it says: docs/rules is searched for these texts."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
import sandbox

from mdspec import Block, read_all, read_programs
from tapelint.rules import all_rules

ROOT = Path(__file__).resolve().parents[2]
WARNED = [(rule.name, message) for rule in all_rules() for message in rule.warns]
DECLARED = [(rule.name, message) for rule in all_rules() for message in rule.raises]


@cache
def programs() -> list[Block]:
    return read_programs() + read_all(ROOT / "docs" / "rules")


def reporting(rule: str) -> list[Block]:
    return [block for block in programs() if any(e.rule == rule for e in block.expected)]


@pytest.mark.parametrize(("rule", "message"), DECLARED)
def test_a_declared_message_is_raised(rule: str, message: str) -> None:
    blocks = [block for block in reporting(rule) if block.verdict.kind == "raises"]
    assert any(message in sandbox.run(block).error for block in blocks)


@pytest.mark.parametrize(("rule", "message"), WARNED)
def test_a_declared_warning_is_given(rule: str, message: str) -> None:
    blocks = reporting(rule)
    assert any(message in warning for block in blocks for warning in sandbox.run(block).warned)
