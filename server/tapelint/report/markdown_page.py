"""A rule's page for an editor: Markdown, complete in itself, so that no address is needed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..rules import Rule
from .facts import sections
from .page import example, facts

_BLOCK = re.compile(r"^```py[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def markdown_page(rule: Rule, rules: Sequence[Rule]) -> str:
    """The page of ``rule``; ``rules`` are all there are. What its examples claim for the tests is put in words."""
    rows = [
        f"# {rule.code} {rule.name}",
        "",
        f"{rule.summary[:1].upper()}{rule.summary[1:]}.",
        "",
        "| | |",
        "|---|---|",
    ]
    rows += [f"| {name} | {'<br>'.join(texts)} |" for name, texts in facts(rule, rules)]
    return "\n".join([*rows, "", _BLOCK.sub(_in_words, sections(rule))]) + "\n"


def _in_words(found: re.Match[str]) -> str:
    code = "\n".join(example(row) for row in found[1].rstrip().split("\n"))
    return f"```python\n{code}\n```"
