"""Comments that silence findings.

    y += 1  # tapelint: ignore[TL101]     these codes, or names of rules, on this logical line
    y += 1  # tapelint: ignore            every code
    y += 1  # noqa: TL101                 the same in the words of other tools; a bare noqa silences every code
    # tapelint: ignore-file[TL101]        these codes in the whole file; without brackets every code

    # tapelint: ignore[TL101]             on a line of its own: the statement below
    y += 1
    x = 1  # tapelint: ignore-next-line   the statement below, also from the end of a line
    y += 1

    # tapelint: disable[TL101]            from here
    y += 1
    # tapelint: enable[TL101]             to here, or to the end of the block

A comment on any line of a statement that spans several speaks for all of them; on a line of a compound statement's
header it speaks for the header, not for the block below. One on a line of its own does what it would do on the next
statement; blank lines and other comments may stand between, and decorators belong to what they decorate. Only a bare
noqa does not: to the tools it is borrowed from it means nothing there. A range covers what is reported on its rows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...frozen import frozen
from ..edit import Span
from ..lexing import tokens
from .grammar import Directive, Flaw, Form, Listed, directives
from .ranges import Mark, Ranges, indent_of, stands_alone

__all__ = ["Directive", "Flaw", "Flawed", "Form", "Listed", "Suppression", "Suppressions", "find"]


@frozen
class Suppression:
    """One comment: it covers what it says on the rows ``first`` to ``last``, or in the whole file. ``end`` is the other
    end of a range.
    """

    says: Directive
    first: int
    last: int
    end: Directive | None = None

    @property
    def codes(self) -> frozenset[str] | None:
        """Codes and names of rules, in capitals; None: every code."""
        return self.says.codes

    @property
    def span(self) -> Span:
        """The comment's own place, without its reason."""
        return self.says.span

    @property
    def is_for_file(self) -> bool:
        return self.says.form is Form.FILE

    def covers(self, code: str, row: int, name: str = "") -> bool:
        """Whether it silences the rule with this code and name where it reports on ``row``."""
        if not self.is_for_file and not self.first <= row <= self.last:
            return False
        codes = self.codes
        return codes is None or code in codes or name.upper() in codes


@frozen
class Flawed:
    """A comment that is not as it should be. One that silences something all the same is an entry, too; ``last`` is the
    row that it then reaches to.
    """

    says: Directive
    flaw: Flaw
    last: int = 0


@frozen
class Suppressions:
    """All suppression comments of a file, in order."""

    entries: tuple[Suppression, ...] = ()
    flawed: tuple[Flawed, ...] = ()

    @property
    def rows_that_stay(self) -> frozenset[int]:
        """The rows of comments that belong to their place or to the file, whatever statement is below them."""
        says = (*(e.says for e in self.entries), *(e.end for e in self.entries), *(f.says for f in self.flawed))
        return frozenset(each.span.row for each in says if each and each.form and not each.form.is_of_statement)

    def covers(self, code: str, row: int, name: str = "") -> bool:
        """Whether any comment silences the rule with this code and name where it reports on ``row``."""
        return any(entry.covers(code, row, name) for entry in self.entries)


def find(lines: Sequence[str], ends: Collection[int] = ()) -> Suppressions:
    """The suppressions of a text that parses, given as its lines. After the rows ``ends``, the last ones of cells, no
    comment speaks for what is below.
    """
    reader = _Reader(lines, ends)
    depth, start_of_row = 0, 0
    for token in tokens("\n".join(lines)):
        kind, value = token.lastgroup, token.group()
        if kind == "comment":
            reader.comment(value, token.start() - start_of_row + 1, depth > 0)
        elif kind == "newline" and (not depth or reader.row in ends):
            reader.close()
            depth = 0
        elif kind not in ("newline", "join") and value != "\ufeff":
            reader.sign(value)
            if kind == "open":
                depth += 1
            elif kind == "close":
                depth = max(0, depth - 1)
        if "\n" in value:
            reader.row += value.count("\n")
            start_of_row = token.start() + value.rfind("\n") + 1
    reader.close()
    reader.end()
    return reader.result()


@frozen
class _Comment:
    """What a comment says, and where: alone on its row, within brackets."""

    says: Directive
    is_alone: bool
    is_within: bool


class _Reader:
    """Reads the logical lines of a text; a comment waits until it is clear which of them it speaks for."""

    def __init__(self, lines: Sequence[str], ends: Collection[int]) -> None:
        self.row = 1
        self._lines, self._ends = lines, ends
        self._first = 1
        self._head = ""
        """The first sign of the logical line; empty as long as it has none."""
        self._inside: list[_Comment] = []
        self._above: list[tuple[Directive, int]] = []
        """What speaks for the logical line to come, and the first row that it covers."""
        self._entries: list[Suppression] = []
        self._flawed: list[Flawed] = []
        self._ranges = Ranges()

    def comment(self, text: str, column: int, is_within: bool) -> None:
        line = self._lines[self.row - 1]
        for says in directives(text, self.row, column):
            if says.flaw is not None:
                self._flawed.append(Flawed(says, says.flaw))
            if says.form is not None and says.flaw in (None, Flaw.NOT_IN_BRACKETS):
                self._inside.append(_Comment(says, stands_alone(line, says.span.column), is_within))

    def sign(self, value: str) -> None:
        if not self._head:
            self._head = value
            self._ranges.statement(self.row, self._lines[self.row - 1])

    def close(self) -> None:
        """The logical line ends with this row."""
        below: list[tuple[Directive, int]] = []
        for comment in self._inside:
            says = comment.says
            if says.form is not None and says.form.is_of_range:
                self._mark(comment)
            elif not self._head:
                self._above.append((says, says.span.row))
            elif says.form is Form.NEXT_LINE and not comment.is_within:
                below.append((says, self.row + 1))
            else:
                self._entries.append(Suppression(says, self._first, self.row))
        if self._head and self._head != "@":
            for says, first in self._above:
                is_bare = says.form is Form.NOQA and says.codes is None
                self._entries.append(Suppression(says, first, says.span.row if is_bare else self.row))
            self._above.clear()
        self._above += below
        self._inside.clear()
        if self.row in self._ends:
            self.end()
        self._first, self._head = self.row + 1, ""

    def _mark(self, comment: _Comment) -> None:
        if not comment.is_alone:
            self._flawed.append(Flawed(comment.says, Flaw.BESIDE_CODE))
            return
        mark = Mark(comment.says, indent_of(self._lines[comment.says.span.row - 1]))
        if self._head:
            self._ranges.inside(mark)
        else:
            self._ranges.above(mark)

    def end(self) -> None:
        """The text, or the cell, ends with this row: there is nothing below."""
        self._entries += [Suppression(says, first, says.span.row) for says, first in self._above]
        self._above.clear()
        self._ranges.end(self.row)

    def result(self) -> Suppressions:
        entries = [Suppression(r.begin, r.begin.span.row, r.last, r.end) for r in self._ranges.found]
        lasts = {r.begin.span: r.last for r in self._ranges.found}
        flawed = [Flawed(says, flaw, lasts.get(says.span, 0)) for says, flaw in self._ranges.flawed]
        return Suppressions(
            tuple(sorted((*self._entries, *entries), key=lambda entry: entry.span)),
            tuple(sorted((*self._flawed, *flawed), key=lambda each: each.says.span)),
        )
