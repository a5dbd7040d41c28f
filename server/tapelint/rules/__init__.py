"""The hazards, one file each, in one folder for each family: a module ``tlNNN_name`` defines a ``RULE``.

A rule sees events and never the interpreter, and imports no other rule.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from .support.finding import FileSummary, Finding, Holds, Rule, Same, TextFinding, TraceStep

__all__ = ["FileSummary", "Finding", "Holds", "TraceStep", "TextFinding", "Rule", "Same", "all_rules", "rule_named"]


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, by code."""
    files = Path(__file__).parent.glob("*/tl*.py")
    found = (import_module(f".{file.parent.name}.{file.stem}", __name__).RULE for file in files)
    return tuple(sorted(found, key=lambda rule: rule.code))


def rule_named(name: str) -> Rule | None:
    """The rule with this code or name."""
    return next((rule for rule in all_rules() if name in (rule.code, rule.name)), None)
