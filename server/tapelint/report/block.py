"""A finding with the code that is shown of it and of its best fix: all that is needed to print it anywhere.

It is made where the file was analysed, and travels to the process that knows the terminal, or into the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Literal

from ..frozen import frozen
from ..source import Span
from ..source import rows as rows_of
from .diagnostic import NO_OFFER, Applicability, Diagnostic, FileEdits, Fix, Offer, unasked
from .look import Style, plain, printable

Lines = Callable[[str], Sequence[str]]
"""The rows of a file by its name; empty where it cannot be read."""

MOST_ROWS = 6
"""Rows of a span that are shown; of a longer one the first and the last."""
CONTEXT = 1
"""Rows above and below the finding that are shown, and so of a change."""
_MOST_CHANGED_ROWS = 12
_MOST_SIGNS = 4000
"""A longer row is data."""

SAFE, UNSAFE = "--fix", "--fix --unsafe-fixes"
"""What makes the fix of a finding without naming it."""

Sign = Literal[" ", "-", "+"]


@frozen
class Row:
    """A row of code: one that stays (``" "``), goes (``"-"``) or comes (``"+"``). Rows are counted after a change; one
    that goes has the number that it had. Where one takes the place of the other they differ from the column ``begin``
    to ``end``, counted from 0.
    """

    number: int
    text: str
    sign: Sign = " "
    begin: int = 0
    end: int = 0


@frozen
class Cure:
    """A fix as it is shown: the option that makes it, if there is one, and by the names of files the
    groups of rows that it changes, none where these are too many.
    """

    title: str
    applicability: Applicability
    option: str = ""
    changes: tuple[tuple[str, tuple[tuple[Row, ...], ...]], ...] = ()
    effect: str = ""


@frozen
class Block:
    """A finding as it is printed. ``rows`` are those of its own place, each with the name of its file, and of the
    steps; the best of ``cures`` is the first.
    """

    diagnostic: Diagnostic
    rows: tuple[tuple[str, Row], ...]
    cures: tuple[Cure, ...] = ()
    no_fix: str | None = None

    @property
    def fixable(self) -> str:
        """The option that makes one of the cures."""
        return min((cure.option for cure in self.cures if cure.option), default="")

    def with_cures_of(self, other: Block) -> Block:
        """The same finding, cured as ``other`` says."""
        return replace(self, cures=other.cures, no_fix=other.no_fix)


def block_of(
    diagnostic: Diagnostic, lines: Lines, offer: Offer = NO_OFFER, text: str = "", checked: str | None = None
) -> Block:
    """What there is to print of a finding. ``text`` is that of the file, or cell, ``checked`` that fixes edit, by
    default the one that it is in.
    """
    places = [(diagnostic.filename, diagnostic.span, CONTEXT)]
    places += ((link.filename, link.span, 0) for link in diagnostic.related)
    rows = dict.fromkeys(row for place in places for row in _shown(lines, *place))
    edited = checked or diagnostic.filename
    best = next((fix for fix in offer.fixes if fix.preferred), None)
    fixes = sorted(offer.fixes, key=lambda fix: fix is not best)
    options = {id(unasked(offer.fixes, unsafe=True)): UNSAFE, id(unasked(offer.fixes, unsafe=False)): SAFE}
    cures = [Cure(fix.title, fix.applicability, options.get(id(fix), ""), (), fix.effect) for fix in fixes]
    if cures:
        cures[0] = replace(cures[0], changes=tuple(_changes(fixes[0], edited, text)))
    return Block(diagnostic, tuple(rows), tuple(cures), offer.no_fix)


def _shown(lines: Lines, filename: str, span: Span, context: int) -> Iterator[tuple[str, Row]]:
    """The rows of a span that are shown, and those around it."""
    known = lines(filename)
    for number in range(max(1, span.row - context), min(len(known), span.end_row + context) + 1):
        if number < span.row + MOST_ROWS or number >= span.end_row:
            yield filename, Row(number, known[number - 1][:_MOST_SIGNS])


def _changes(fix: Fix, filename: str, text: str) -> Iterator[tuple[str, tuple[tuple[Row, ...], ...]]]:
    """What a fix changes, by file; nothing where it is too much to take in."""
    own = (FileEdits(filename, text, fix.edits),) if fix.edits else ()
    for change in (*own, *fix.others):
        try:
            groups = tuple(_groups(rows_of(change.text), rows_of(change.after)))
        except ValueError:
            continue
        if sum(row.sign != " " for group in groups for row in group) <= _MOST_CHANGED_ROWS:
            yield change.filename, groups


def _groups(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[Row, ...]]:
    """The rows that change, those together that stand near each other, with a row of what stays around them
    where there is something in it.
    """
    group: list[Row] = []
    end = 0  # of what is shown of the new text
    for _, a, b, c, d in _differences(old, new):
        begin = max(c - CONTEXT, end)
        if group and begin > end:
            yield tuple(group)
            group = []
        group += (Row(row + 1, new[row]) for row in range(begin, c) if new[row].strip())
        pairs = {a + i: c + i for i in range(min(b - a, d - c))}
        group += (_replaced(row, old[row], "-", new[pairs[row]] if row in pairs else "") for row in range(a, b))
        pairs = {row: other for other, row in pairs.items()}
        group += (_replaced(row, new[row], "+", old[pairs[row]] if row in pairs else "") for row in range(c, d))
        end = min(d + CONTEXT, len(new))
        group += (Row(row + 1, new[row]) for row in range(d, end) if new[row].strip())
    if group:
        yield tuple(group)


def _replaced(row: int, text: str, sign: Sign, other: str) -> Row:
    """A row that goes or comes, where the ``other`` one comes or goes."""
    least = min(len(text), len(other))
    begin = next((i for i in range(least) if text[i] != other[i]), least)
    tail = next((i for i in range(least - begin) if text[-1 - i] != other[-1 - i]), least - begin)
    return Row(row + 1, text, sign, begin, max(begin, len(text) - tail)) if other else Row(row + 1, text, sign)


def _differences(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """What differs, as difflib's opcodes; the long equal beginning and end are not its business."""
    least = min(len(old), len(new))
    head = next((i for i in range(least) if old[i] != new[i]), least)
    tail = next((i for i in range(least - head) if old[-1 - i] != new[-1 - i]), least - head)
    inner_old, inner_new = old[head : len(old) - tail], new[head : len(new) - tail]
    for kind, a, b, c, d in SequenceMatcher(None, inner_old, inner_new, autojunk=False).get_opcodes():
        if kind != "equal":
            yield kind, a + head, b + head, c + head, d + head


def concise(diagnostic: Diagnostic, fixable: str = "", style: Style = plain) -> str:
    """One finding as one line, ``[*]`` where ``--fix`` cures it.

    train.py:3:1: error[TL201] [*] Writes `y` in place, but `exp` saved it for `y.sum().backward()`
    """
    word, span = diagnostic.severity.word, diagnostic.span
    mark = f" [{style('help', '*')}]" if fixable == SAFE else ""
    place = f"{style('bold', printable(diagnostic.filename))}:{span.row}:{span.column}"
    return f"{place}: {style(word, f'{word}[{diagnostic.code}]')}{mark} {printable(diagnostic.message)}"
