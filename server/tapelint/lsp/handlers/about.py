"""Commands about rules and tapelint itself, for editors that show the answers.

{"command": "tapelint.rule", "arguments": ["TL201"]}     the page of a rule or notice as Markdown
{"command": "tapelint.debugInformation"}                 what to paste into a bug report
"""

from __future__ import annotations

import platform
import sys
from dataclasses import asdict
from typing import Any

from ...compiled import engine
from .. import deferred

RULE = "tapelint.rule"
DEBUG_INFORMATION = "tapelint.debugInformation"


def rule_page(ls: Any, *arguments: Any) -> str | None:
    """The page for a code or name. Without one it is the list of all; None where there is no such code or name."""
    wanted = next((str(word).lower() for word in arguments if word), None)
    rules = sorted([*deferred.rules.all_rules(), *deferred.topics.all_topics()], key=lambda rule: rule.code)
    if wanted is None:
        return "# Rules\n\n" + "".join(f"- `{rule.code}` {rule.name}: {rule.summary}\n" for rule in rules)
    found = (rule for rule in rules if wanted in (rule.code.lower(), rule.name))
    return next((deferred.page.markdown_page(rule, rules) for rule in found), None)


def information(ls: Any) -> dict[str, Any]:
    """What there is to say of the server ``ls``: no text of the user's files.

    pygls resolves the hints of a command at run time, so ``Server``, which imports this module, cannot be one here.
    """
    client = asdict(ls.client)
    return {
        "tapelint": ls.version,
        "engine": engine(),
        "python": sys.version.split()[0],
        "executable": sys.executable,
        "platform": platform.platform(),
        "pygls": deferred.metadata.version("pygls"),
        "positionEncoding": ls.client.encoding,
        "diagnostics": "pull" if ls.client.pulls else "push",
        "client": client,
        "folders": [folder.uri for folder in ls.workspace.folders.values()],
        "documents": ls.session.describe(),
    }
