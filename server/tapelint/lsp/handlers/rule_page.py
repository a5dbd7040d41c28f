"""The command ``tapelint.rule``: the page of a rule or notice as Markdown, for editors that show it themselves.

    {"command": "tapelint.rule", "arguments": ["TL201"]}

Without an argument it is the list of all; null where there is no such code or name.
"""

from __future__ import annotations

from typing import Any

from .. import deferred

COMMAND = "tapelint.rule"


def rule_page(ls: Any, *arguments: Any) -> str | None:
    """The page for a code or name."""
    wanted = next((str(word).lower() for word in arguments if word), None)
    rules = sorted([*deferred.rules.all_rules(), *deferred.topics.all_topics()], key=lambda rule: rule.code)
    if wanted is None:
        return "# Rules\n\n" + "".join(f"- `{rule.code}` {rule.name}: {rule.summary}\n" for rule in rules)
    found = (rule for rule in rules if wanted in (rule.code.lower(), rule.name))
    return next((deferred.markdown_page.markdown_page(rule, rules) for rule in found), None)
