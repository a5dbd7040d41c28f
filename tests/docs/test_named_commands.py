"""What the pages say that users may type does exist: each command of tapelint, and each option."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tapelint.cli.commands import tapelint

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]
TYPED = re.compile(r"(?:`|^ *\$ |^ {4,})tapelint ([a-z-]+)([^`\n]*)", re.MULTILINE)
OPTION = re.compile(r"(?<=\s)--[a-z][a-z-]+|(?<=\s)-[a-z]\b")


def typed(text: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of tapelint in a text as code, each with its options."""
    for found in TYPED.finditer(text):
        arguments = re.split(r"[|>#]| -- ", found[2])[0]
        yield found[1], OPTION.findall(arguments)


def unknown(text: str) -> list[str]:
    """The commands and options in a text that tapelint does not have."""
    missing = []
    for name, options in typed(text):
        command = tapelint.commands.get(name)
        if command is None:
            missing.append(f"tapelint {name}")
            continue
        known = {"-h", "--help"}.union(*({*each.opts, *each.secondary_opts} for each in command.params))
        missing += [f"tapelint {name} {option}" for option in options if option not in known]
    return missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_and_options_exist(page: Path) -> None:
    assert not unknown(page.read_text(encoding="utf-8"))


def test_what_does_not_exist_is_seen() -> None:
    assert unknown("`tapelint coverage` and `tapelint check --storey a.py`, `tapelint trace a.py:1`") == [
        "tapelint coverage",
        "tapelint check --storey",
    ]
