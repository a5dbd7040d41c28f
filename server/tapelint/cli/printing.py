"""Findings as text for a person, and what is said below them. Rich is loaded where there is something to print."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from textwrap import fill
from typing import TextIO

from ..report.block import SAFE, Block, concise
from ..report.look import Look, style_for

_SIDES = {"-": "removed", "+": "added", "@": "help"}


def print_findings(found: Iterable[Block | str], form: str, look: Look, out: TextIO) -> None:
    """Print findings in the format ``full`` or ``concise``; what is text is printed as it is."""
    text_of: Callable[[Block], str] | None = None
    for each in found:
        if isinstance(each, str):
            print(each, file=out)
            continue
        text_of = text_of or _formatter(form, look)
        print(text_of(each), file=out)


def _formatter(form: str, look: Look) -> Callable[[Block], str]:
    """What makes the text of a finding, without its line end."""
    if form == "full":
        full: Callable[[Block, Look], str] = import_module("tapelint.report.full").full
        return lambda block: full(block, look)
    style = style_for(look.is_coloured)
    return lambda block: concise(block.diagnostic, block.fixable, style)


def coloured_difference(text: str, look: Look) -> str:
    """What ``diff -u`` would print, in its colours."""
    if not text or not look.is_coloured:
        return text
    style, rows = style_for(look.is_coloured), []
    for row in text.splitlines(keepends=True):
        line = row.rstrip("\r\n")
        name = "bold" if line.startswith(("---", "+++")) else _SIDES.get(line[:1])
        rows.append((style(name, line) if name else line) + row[len(line) :])
    return "".join(rows)


def in_columns(text: str, look: Look) -> str:
    """Sentences in rows that fit."""
    return "\n".join(fill(row, look.width, break_on_hyphens=False) for row in text.split("\n"))


def fixable_of(found: Iterable[object]) -> tuple[int, int]:
    """How many of these ``--fix`` cures, and how many more with ``--unsafe-fixes``."""
    options = [each.fixable for each in found if isinstance(each, Block)]
    return options.count(SAFE), sum(option not in ("", SAFE) for option in options)


def fixable_line(safe: int, unsafe: int, is_unsafe: bool | None = None) -> str:
    """What ``--fix`` would do, in ruff's words, with the line end before it; ``is_unsafe``: unsafe fixes are wanted, or
    not to be mentioned. Empty where it would do nothing.
    """
    if is_unsafe is not None:
        safe, unsafe = safe + unsafe * is_unsafe, 0
    hidden = f"{unsafe} hidden fix{'' if unsafe == 1 else 'es'} can be enabled with the `--unsafe-fixes` option"
    if safe:
        return f"\n[*] {safe} fixable with the `--fix` option{f' ({hidden})' if unsafe else ''}."
    return f"\nNo fixes available ({hidden})." if unsafe else ""
