"""``tapelint rule``: the pages of rules and notices."""

from __future__ import annotations

import shutil
import sys

import click

from ..report.page import page
from ..report.style import ansi, is_coloured, plain
from ..report.topics import all_topics
from ..rules import all_rules
from .streams import writing


def explain_rule(code: str | None) -> None:
    """Print the page of a rule, given its code or name, or the list of all; raises click.UsageError if there is no
    such rule.
    """
    rules = sorted([*all_rules(), *all_topics()], key=lambda rule: rule.code)
    if code is None:
        with writing():
            print("\n".join(f"{each.code}  {each.name}: {each.summary}" for each in rules))
        return
    for each in rules:
        if code.upper() == each.code or code.lower() == each.name:
            style = ansi if is_coloured(sys.stdout) else plain
            with writing():
                print(page(each, rules, shutil.get_terminal_size().columns, style), end="")
            return
    raise click.UsageError(f"no rule {code!r}; the rules are {', '.join(each.code for each in rules)}")
