"""Comments that silence findings.

    y += 1  # tapelint: ignore[TL101]     these codes, on this logical line
    y += 1  # tapelint: ignore            every code
    y += 1  # noqa: TL101                 the same in the words of other tools; a bare noqa silences every code
    # tapelint: ignore-file[TL101]        these codes in the whole file; without brackets every code

    # tapelint: ignore[TL101]             on a line of its own: the statement below
    y += 1

A comment on any line of a statement that spans several speaks for all of them; on a line of a compound statement's
header it speaks for the header, not for the block below. One on a line of its own does what it would do on the next
statement; blank lines and other comments may stand between, and decorators belong to what they decorate. Only a bare
noqa does not: to the tools it is borrowed from it means nothing there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
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


def find(lines: Sequence[str], ends: Collection[int] = ()) -> Suppressions:
    """The suppressions of a text that parses, given as its lines. After the rows ``ends``, the last ones of cells, no
    comment speaks for what is below.
    """
    found: list[Suppression] = []
    first, row, depth = 1, 1, 0
    head = ""
    """The first sign of the logical line; empty as long as it has none."""
    inside: list[_Comment] = []
    above: list[_Comment] = []

    def close() -> None:
        nonlocal first, head
        if not head:
            above.extend(inside)
        else:
            for comment in inside:
                found.extend(_entries(comment, first, row))
            if head != "@":
                for comment in above:
                    found.extend(_entries(comment, comment.row, row, is_above=True))
                above.clear()
        inside.clear()
        if row in ends:
            alone()
        first, head = row + 1, ""

    def alone() -> None:
        for comment in above:
            found.extend(_entries(comment, comment.row, comment.row))
        above.clear()

    start_of_row = 0
    for token in tokens("\n".join(lines)):
        kind, value = token.lastgroup, token.group()
        if kind == "comment":
            inside.append(_Comment(value, row, token.start() - start_of_row + 1))
        elif kind == "newline" and not depth:
            close()
        elif kind not in ("newline", "join") and value != "\ufeff":
            head = head or value
            if kind == "open":
                depth += 1
            elif kind == "close":
                depth = max(0, depth - 1)
        if "\n" in value:
            row += value.count("\n")
            start_of_row = token.start() + value.rfind("\n") + 1
    close()
    alone()
    return Suppressions(tuple(sorted(found, key=lambda entry: entry.span)))


@dataclass(frozen=True, slots=True)
class _Comment:
    """The text of a comment, and where it begins."""

    text: str
    row: int
    column: int


def _entries(comment: _Comment, first: int, last: int, is_above: bool = False) -> list[Suppression]:
    """What one comment says; it may say several things, as in ``# noqa: E501  # tapelint: ignore``. It speaks for the
    rows ``first`` to ``last``, of which it ``is_above`` the statement if it has a line of its own.
    """
    entries = []
    row = comment.row
    for pattern in (_OURS, _NOQA):
        for found in pattern.finditer(comment.text):
            codes = None
            if found["list"]:
                codes = frozenset(re.split(r"[\s,]+", found["codes"].strip().upper())) - {""}
            begin = comment.column + found.start()
            span = Span(row, begin, row, comment.column + found.end())
            is_for_file = pattern is _OURS and bool(found["file"])
            is_below = not is_above or pattern is _OURS or codes is not None
            entries.append(Suppression(codes, first, last if is_below else row, span, is_for_file))
    return entries
