"""What there is to look up: the pages of rules and notices (``tapelint rule``), and settings (``tapelint config``)."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from difflib import get_close_matches

import click

from ..report.facts import purposes, severities
from ..report.look import look_for, style_for
from ..report.page import page
from ..report.topics import all_topics
from ..rules import Rule, all_rules
from ..workspace.all_settings import SETTINGS, Setting
from ..workspace.keys import code_meant, suggestion
from .streams import Refusal, writing


def rules(code: str | None, is_all: bool, output_format: str) -> int:
    """Print the page of a rule, given its code or name, or of all; without either list them. The exit status. Raises
    click.UsageError if there is no such rule.
    """
    every = sorted([*all_rules(), *all_topics()], key=lambda rule: rule.code)
    if is_all and code is not None:
        raise click.UsageError("--all goes not with the code of a rule.")
    asked = [each for each in every if code is None or each.code == code.upper() or each.name == code.lower()]
    if not asked:
        raise _unknown(code or "", every)
    with writing():
        if output_format == "json":
            described = [_described(each) for each in asked]
            print(json.dumps(described if code is None else described[0], indent=2, ensure_ascii=False))
        elif is_all or code is not None:
            _print_pages(asked, every)
        else:
            print("\n".join(f"{each.code}  {each.name}: {each.summary}" for each in every))
    return 0


def _unknown(code: str, rules: Sequence[Rule]) -> click.UsageError:
    """The error that there is no such rule."""
    near = get_close_matches(code.lower(), [each.name for each in rules], 1, 0.7)
    return click.UsageError(f"no rule {code!r}; {code_meant(code.upper(), near)}")


def _print_pages(asked: Sequence[Rule], rules: Sequence[Rule]) -> None:
    look = look_for(sys.stdout)
    style = style_for(look.is_coloured)
    print("\n".join(page(each, rules, look.width, style) for each in asked), end="")


def _described(rule: Rule) -> dict[str, object]:
    """A rule as JSON: names of keys are those of ruff where it has them."""
    fixes = [text.replace("``", "`") for text in purposes(rule).values()]
    return {
        "name": rule.name,
        "code": rule.code,
        "summary": rule.summary,
        "severities": [severity.word for severity in severities(rule)],
        "default": rule.default,
        "raises": list(rule.raises),
        "fixes": fixes,
        "fix_availability": "Sometimes" if fixes else "None",
        "explanation": rule.docs.strip(),
        "url": rule.url or None,
    }


def settings(key: str | None, output_format: str) -> int:
    """Print the names of all settings, or one setting; in JSON what there is to know of them. The exit status."""
    if key is not None and key not in SETTINGS:
        raise Refusal(f"there is no setting {key!r}; {suggestion(key, SETTINGS, 'the settings are')}")
    with writing():
        if output_format == "json":
            every = {name: _setting(setting) for name, setting in SETTINGS.items()}
            print(json.dumps(every if key is None else every[key], indent=2, ensure_ascii=False))
        elif key is None:
            print("\n".join(SETTINGS))
        else:
            print(_explained(SETTINGS[key]))
    return 0


def _setting(setting: Setting) -> dict[str, str]:
    """The words of ruff."""
    return {
        "doc": setting.doc,
        "default": setting.default,
        "value_type": setting.kind.name,
        "example": setting.example,
    }


def _explained(setting: Setting) -> str:
    head = f"{setting.doc}\n\nDefault value: {setting.default}\nType: {setting.kind.name}"
    return f"{head}\nExample usage:\n```toml\n{setting.example}\n```"
