"""Every section of ``purposes/*.md`` is a change: before, and after or nothing. Each is tried in many dresses."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from marked import cases, fixed

from tapelint.fixes.purposes import PURPOSES

FILES = sorted(Path(__file__).with_name("purposes").glob("*.md"))


def _tabs(text: str) -> str:
    text = "if True:\n    pass\n" + text
    return re.sub(r"^(?: {4})+", lambda m: "\t" * (len(m.group()) // 4), text, flags=re.MULTILINE)


def _nested(text: str) -> str:
    return "if True:\n" + re.sub(r"^(?=[^\n])", "    ", text, flags=re.MULTILINE)


def _accented(text: str) -> str:
    return re.sub(r"\b[xh]\b|\bloss\b", lambda m: {"x": "ж", "h": "ħ", "loss": "löss"}[m.group()], text)


_ODD = re.compile(r"^(?: {4})* {1,3}(?! )", re.MULTILINE)
"""An indentation that tabs cannot make."""

DRESSES: dict[str, Callable[[str], str]] = {
    "plain": str,
    "crlf": lambda text: text.replace("\n", "\r\n"),
    "cr": lambda text: text.replace("\n", "\r"),
    "tabs": _tabs,
    "nested": _nested,
    "accented": _accented,
    "bom": lambda text: "\ufeff" + text,
    "open end": lambda text: text.removesuffix("\n"),
}

CASES = [
    pytest.param(file.stem, before, after, id=f"{file.stem}: {title}")
    for file in FILES
    for title, before, after in cases(file)
]


@pytest.mark.parametrize(("purpose", "before", "after"), CASES)
def test_edited_text(purpose: str, before: str, after: str | None) -> None:
    """What is changed is changed in every dress."""
    if after is None:
        assert fixed(purpose, before) is None
        return
    worn = {name: wear for name, wear in DRESSES.items() if not (name == "tabs" and _ODD.search(before))}
    made = {name: fixed(purpose, wear(before)) for name, wear in worn.items()}
    assert made == {name: wear(after) for name, wear in worn.items()}


def test_every_purpose_has_its_file() -> None:
    assert {file.stem for file in FILES} == PURPOSES.keys()
