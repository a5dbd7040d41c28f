"""The hazards, one file each. ``all_rules()`` finds them: a module of this package that defines ``RULE`` is a rule."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from .finding import Examined, Finding, Link, Remark, Rule

__all__ = ["Examined", "Finding", "Link", "Remark", "Rule", "all_rules", "rule_named"]


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, by code."""
    modules = sorted(p.stem for p in Path(__file__).parent.glob("tl*.py"))
    return tuple(sorted((import_module(f".{name}", __name__).RULE for name in modules), key=lambda r: r.code))


def rule_named(name: str) -> Rule | None:
    """The rule with this code or name."""
    return next((rule for rule in all_rules() if name in (rule.code, rule.name)), None)
