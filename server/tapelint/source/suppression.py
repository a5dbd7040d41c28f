"""Comments that silence findings.

    y += 1  # tapelint: ignore[TL101]     these codes, on this logical line
    y += 1  # tapelint: ignore            every code
    y += 1  # noqa: TL101                 the same in the words of other tools; a bare noqa silences every code
    # tapelint: ignore-file[TL101]        these codes in the whole file; without brackets every code

A comment on any line of a statement that spans several speaks for all of them; on a line of a compound statement's
header it speaks for the header, not for the block below.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .lexing import tokens
from .span import Span

_OURS = re.compile(r"#\s*tapelint:\s*ignore(?P<file>-file)?(?P<list>\s*\[(?P<codes>[^\]]*)\])?(?=$|[\s#])", re.I)
_NOQA = re.compile(r"#\s*noqa(?P<list>\s*:\s*(?P<codes>[A-Z]+[0-9]+(?:[\s,]+[A-Z]+[0-9]+)*))?(?![\w:-])", re.I)


@dataclass(frozen=True, slots=True)
class Suppression:
    """One comment: it covers ``codes`` (None: all) on the rows ``first`` to ``last``. ``span`` is the comment's own."""

    codes: frozenset[str] | None
    first: int
    last: int
    span: Span
    is_for_file: bool = False

    def covers(self, code: str, row: int) -> bool:
        """Whether it silences ``code`` where it is reported on ``row``."""
        return (self.is_for_file or self.first <= row <= self.last) and (self.codes is None or code in self.codes)


@dataclass(frozen=True, slots=True)
class Suppressions:
    """All suppression comments of a file, in order."""

    entries: tuple[Suppression, ...] = ()

    def covers(self, code: str, row: int) -> bool:
        """Whether any comment silences ``code`` where it is reported on ``row``."""
        return any(entry.covers(code, row) for entry in self.entries)


def find(lines: Sequence[str]) -> Suppressions:
    """The suppressions of a text that parses, given as its lines."""
    found: list[Suppression] = []
    first, row, depth = 1, 1, 0
    pending: list[tuple[int, int, str]] = []

    def close() -> None:
        nonlocal first
        for at, column, comment in pending:
            found.extend(_entries(comment, at, column, first, row))
        pending.clear()
        first = row + 1

    start_of_row = 0
    for token in tokens("\n".join(lines)):
        kind, value = token.lastgroup, token.group()
        if kind == "comment":
            pending.append((row, token.start() - start_of_row + 1, value))
        elif kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        elif kind == "newline" and not depth:
            close()
        if "\n" in value:
            row += value.count("\n")
            start_of_row = token.start() + value.rfind("\n") + 1
    close()
    return Suppressions(tuple(found))


def _entries(comment: str, row: int, column: int, first: int, last: int) -> list[Suppression]:
    """What one comment says; a comment may carry several, as in ``# noqa: E501  # tapelint: ignore``."""
    entries = []
    for pattern in (_OURS, _NOQA):
        for found in pattern.finditer(comment):
            codes = None
            if found["list"]:
                codes = frozenset(re.split(r"[\s,]+", found["codes"].strip().upper())) - {""}
            begin = column + found.start()
            span = Span(row, begin, row, column + found.end())
            is_for_file = pattern is _OURS and bool(found["file"])
            entries.append(Suppression(codes, first, last, span, is_for_file))
    return entries
