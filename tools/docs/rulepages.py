"""The pages of docs/rules: one for each rule, made from its file, and an index by family.

docs/rules/TL101.md     what `tapelint rule TL101` prints, and what is known of the rule besides
docs/rules/README.md    all rules
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from tapelint.report.facts import fixing, opening, severities, story
from tapelint.report.page import SETTINGS
from tapelint.report.topics import all_topics
from tapelint.rules import Rule, all_rules

FAMILIES = {
    "TL1": "How long a graph lives",
    "TL2": "Writing in place",
    "TL3": "Graphs that break off",
    "TL4": "The training step",
    "TL5": "Functions of your own",
    "TL90": "Comments that silence findings",
    "TL91": "What was not seen",
}
"""What the beginning of a code says."""

MADE = "<!-- made by `python -m tools.docs` from server/tapelint/rules: change it there -->"
WORDS = """\
In the examples, `# error: [name]` is what tapelint
reports at that line, and `# torch:` what PyTorch 2.13.0 does: both are tested. The
imports are left out: `import torch`, `from torch import nn`, `import torch.nn.functional as F`."""

_LINKED = re.compile(r"^\| (?P<message>[^|]+) \| \[(?P<title>[^]]+)\]\((?P<anchor>#[^)]+)\) \|$", re.MULTILINE)


def pages() -> dict[str, str]:
    """The text of every page by its name."""
    found = {f"{rule.code}.md": page(rule) for rule in (*all_rules(), *all_topics())}
    return {**found, "README.md": "\n".join(index()) + "\n"}


def page(rule: Rule) -> str:
    """The page of one rule."""
    rows = [f"# {rule.code} {rule.name}", "", MADE, "", *([] if rule.notice else [opening(rule), ""])]
    for does, messages in (("raises", rule.raises), ("warns", rule.warns)):
        if messages:
            rows += [f"PyTorch {does} {'<br>'.join(f'“{message}”' for message in messages)}", ""]
    rows += [story(rule), "", f"## {SETTINGS}", "", "| | |", "|---|---|"]
    rows += [f"| {name} | {text} |" for name, text in facts(rule)]
    words = "[All rules](README.md)." if rule.notice else f"[All rules](README.md). {WORDS}"
    return "\n".join([*rows, *(["", fixing(rule)] if fixing(rule) else []), "", words]) + "\n"


def facts(rule: Rule) -> Iterator[tuple[str, str]]:
    """What is known of a rule besides its story and its fixes."""
    yield "severity", " or ".join(severity.word for severity in severities(rule))
    on = f'no: turn it on with `extend-select = ["{rule.code}"]`'
    yield "on by default", "yes" if rule.default else on


def table() -> Iterator[str]:
    """The rules, one row each, family by family, and what is told under the codes that are no rules."""
    yield "| code | name | what happens |"
    yield "|---|---|---|"
    for rule in (*all_rules(), *all_topics()):
        aside = "" if rule.default else " (off by default)"
        yield f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.summary}{aside} |"


def index() -> Iterator[str]:
    """The lines of the index."""
    yield from ("# The rules", "", MADE, "")
    yield "The rules by family. By the error text of PyTorch they are [on a page of their own](../errors.md)."
    yield f"`tapelint rule CODE` prints the same pages. {WORDS}"
    rows = list(table())
    for family, lines in groupby(rows[2:], lambda row: next(f for f in FAMILIES if row.startswith(f, 3))):
        yield from ("", f"## {FAMILIES[family]}", "", *rows[:2], *lines)


def messages() -> dict[str, list[Rule]]:
    """PyTorch's errors and warnings, and the rules that predict each."""
    found: dict[str, list[Rule]] = {}
    for rule in all_rules():
        for message in (*rule.raises, *rule.warns):
            found.setdefault(message, []).append(rule)
    return found


def chapters(semantics: str) -> dict[str, str]:
    """The chapters of docs/semantics.md, as links from its folder, by the error texts that they explain."""
    return {
        found["message"]: f"[{found['title']}](semantics.md{found['anchor']})" for found in _LINKED.finditer(semantics)
    }


def chapter(message: str, chapters: dict[str, str]) -> str:
    """The chapter of docs/semantics.md that explains a message."""
    return next((chapters[known] for known in chapters if known in message or message in known), "")
