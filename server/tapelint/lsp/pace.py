"""What is shown of a text that is being typed.

    hidden.sum().b          half typed: what is shown stays as it is, where its lines are unchanged
    hidden.sum(             does not parse: what is shown stays, too, and what else is found is added
    hidden.sum().backward() what is found is shown, but for what the next line may answer

"No backward uses this graph" is not said while the backward is being typed, nor "`zero_grad()` is missing" in the line
above it: findings of rules that are ``answerable``, and those that hang on a caller, wait until the user has paused or
saved. To type elsewhere is not enough, since a caller may be what is typed there. A text that was pasted, undone,
formatted or fixed is finished: all is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import attrs
from lsprotocol import types

from ..frozen import frozen
from ..report.diagnostic import Diagnostic
from . import deferred
from .convert.positions import LineIndex, units

_KEYS = re.compile(r"\s*|.{1,2}|\w+(\(\))?", re.ASCII)
"""What one key inserts: a letter, a pair of brackets, a new row with its indentation, a completed word."""
_PAIRS = ("()", "[]", "{}", '""', "''")
_ENDS = (")", "]", "}", ":", '"', "'")
"""A row that ends so before the cursor may be a whole statement; after a letter or a digit more may follow."""

Pair = tuple[Diagnostic, types.Diagnostic]


@frozen
class Shown:
    """What a document showed last, and the rows that it had then; of that, what other files have found in it."""

    rows: tuple[str, ...] = ()
    diagnostics: tuple[types.Diagnostic, ...] = ()
    foreign: tuple[types.Diagnostic, ...] = ()


class Pace:
    """How far the user is in one document."""

    def __init__(self) -> None:
        self.is_typing = False
        # The text is not the one that was opened or saved last.
        self.is_unsaved = False
        # Behind what was typed last: row and column, from 1.
        self.cursor = (1, 1)
        self.shown = Shown()

    def edited(self, changes: Sequence[types.TextDocumentContentChangeEvent], rows: LineIndex, encoding: str) -> None:
        """The document was changed, and has these rows now."""
        self.is_unsaved = True
        self.is_typing = bool(changes) and all(map(_is_typed, changes))
        last = changes[-1] if changes else None
        if isinstance(last, types.TextDocumentContentChangePartial):
            text = last.text[:1] if last.text in _PAIRS else last.text
            *above, row = re.split(r"\r\n|\r|\n", text)
            start = last.range.start
            end = types.Position(start.line + len(above), units(row, encoding) + (0 if above else start.character))
            self.cursor = rows.place(end, encoding)

    def rest(self) -> None:
        """The user has paused."""
        self.is_typing = False

    def saved(self) -> None:
        self.is_typing = self.is_unsaved = False

    def is_half_typed(self, rows: LineIndex) -> bool:
        """Whether the statement at the cursor may go on there."""
        row, column = self.cursor
        text = rows.row(row)
        before, after = text[: column - 1].rstrip(), text[column - 1 :].strip()
        return self.is_typing and bool(before) and (bool(after) or not before.endswith(_ENDS))

    def told(self, own: Sequence[Pair], rows: LineIndex) -> tuple[Pair, ...]:
        """What is shown of the findings of a text with these ``rows``."""
        if not self.is_typing:
            return tuple(own)
        known = {key(each) for each in _moved(self.shown.diagnostics, self.shown.rows, rows, in_changed_rows=True)}
        is_half_typed = self.is_half_typed(rows)
        return tuple(
            (finding, shown)
            for finding, shown in own
            if key(shown) in known or not is_half_typed and not _waits(finding)
        )

    def staying(self, rows: LineIndex, is_in_pieces: bool, is_judged: bool = True) -> tuple[types.Diagnostic, ...]:
        """What was shown and stays, be it found again or not, if its rows are unchanged: all, where the text does not
        parse or is half typed; what other files have found, until they have been looked at again (``is_judged``).
        """
        is_all = is_in_pieces or self.is_half_typed(rows)
        shown = self.shown.diagnostics if is_all else () if is_judged else self.shown.foreign
        return tuple(_moved(shown, self.shown.rows, rows))


def _waits(finding: Diagnostic) -> bool:
    """Whether what is typed next may answer a finding."""
    rule = deferred.rules.rule_named(finding.code)
    return finding.is_latent or rule is not None and rule.answerable


def _moved(
    shown: Sequence[types.Diagnostic], before: Sequence[str], rows: LineIndex, in_changed_rows: bool = False
) -> Iterator[types.Diagnostic]:
    """What was shown in the rows ``before``, where it stands among new ``rows``; not what stands in rows that have
    changed, unless these are asked for: they keep their places.
    """
    if not shown:
        return
    after = rows.with_endings()
    most = min(len(before), len(after))
    above = _same(zip(before, after))
    below = min(_same(zip(reversed(before), reversed(after))), most - above)
    by = len(after) - len(before)
    for each in shown:
        first, last = each.range.start.line, each.range.end.line
        if last < above:
            yield each
        elif first >= len(before) - below:
            yield _lowered(each, by)
        elif in_changed_rows:
            yield each


def _same(pairs: Iterable[tuple[str, str]]) -> int:
    """How many pairs of rows are the same, from the first on, however they end."""
    count = 0
    for one, other in pairs:
        if one != other and one.rstrip("\r\n") != other.rstrip("\r\n"):
            break
        count += 1
    return count


def _lowered(shown: types.Diagnostic, by: int) -> types.Diagnostic:
    """A diagnostic so many lines below; the steps of its story keep their places until it is found again."""
    start, end = shown.range.start, shown.range.end
    area = types.Range(types.Position(start.line + by, start.character), types.Position(end.line + by, end.character))
    return attrs.evolve(shown, range=area)


def _is_typed(change: types.TextDocumentContentChangeEvent) -> bool:
    """Whether a change is what a key does: it inserts, completes a word, or deletes a letter or a row's end."""
    if not isinstance(change, types.TextDocumentContentChangePartial):
        return False
    start, end = change.range.start, change.range.end
    if not change.text:
        return end.line - start.line == 1 or end.line == start.line and end.character - start.character <= 2
    return start.line == end.line and _KEYS.fullmatch(change.text) is not None


def key(shown: types.Diagnostic) -> tuple[object, ...]:
    """What two diagnostics of one hazard have in common while its row is being typed."""
    return shown.code, shown.severity == types.DiagnosticSeverity.Hint, shown.range.start.line
