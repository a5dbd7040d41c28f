"""The text a purpose writes on: nodes to offsets, offsets to edits, and where a node stands in the tree.

``ast`` knows nothing of parents and counts bytes; editors count characters. A :class:`SourceEditor` answers in
offsets of ``source.text``, so that a purpose can slice it.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

from ...frozen import frozen
from ...source.edit import Edit, Span, line_starts

if TYPE_CHECKING:
    from ...source import Source

INDENT = re.compile(r"[ \t\f]*")
JOINT = re.compile(r"(?:[ \t\f]|\\(?:\r\n|\r|\n))*;(?:[ \t\f]|\\(?:\r\n|\r|\n))*")
"""What stands between two statements that share a line."""

T = TypeVar("T")
Node = TypeVar("Node", bound=ast.AST)

_TAIL = re.compile(r"[ \t\f]*(?:;[ \t\f]*)?(#.*)?")


@frozen
class Place:
    """A statement among its siblings. ``parents`` leads from the module down to ``owner``, whose ``suite`` it is in."""

    statement: ast.stmt
    suite: list[ast.stmt]
    index: int
    owner: ast.AST
    parents: tuple[ast.AST, ...]


class EditRefused(Exception):
    """The change cannot be made safely here; the reason is for readers of a traceback, not for users."""


def require(condition: object, why: str) -> None:
    """Refuse the edit unless something holds."""
    if not condition:
        raise EditRefused(why)


def refuse(condition: object, why: str) -> None:
    """Refuse the edit where something holds."""
    require(not condition, why)


def demand(value: T | None, why: str) -> T:
    """What was looked for; the edit is refused where that is None."""
    if value is None:
        raise EditRefused(why)
    return value


def innermost(nodes: Iterable[ast.AST], kind: type[Node], why: str = "not in one") -> Node:
    """The last node of a kind, of those that lead from the module to some place; refused where there is none."""
    return demand(next((node for node in reversed([*nodes]) if isinstance(node, kind)), None), why)


class SourceEditor:
    """``source`` as something to be changed."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.rows = source.lines

    @cached_property
    def _starts(self) -> list[int]:
        return line_starts(self.text)

    # Offsets

    def row_start(self, row: int) -> int:
        """Where a row begins, behind a byte order mark; the row may be one past the last."""
        if row > len(self._starts):
            return len(self.text)
        return self._starts[row - 1] + (row == 1 and self.text.startswith("\ufeff"))

    def row_end(self, row: int) -> int:
        """Where a row ends, before what ends it."""
        return self._starts[row - 1] + len(self.rows[row - 1])

    def code_start(self, row: int) -> int:
        """Where the indentation of a row ends."""
        return self.row_start(row) + len(self.indent_of_row(row))

    def begin(self, node: ast.AST) -> int:
        """Where a node begins; a decorated definition begins at its first decorator."""
        if decorators := getattr(node, "decorator_list", None):
            begin = self.code_start(decorators[0].lineno)
            refuse(not self.text.startswith("@", begin), "a decorator that does not begin its row")
            return begin
        return self.bare_begin(node)

    def bare_begin(self, node: ast.AST) -> int:
        """Where a node begins, or the header of a definition below its decorators."""
        span = self._span(node)
        return self._starts[span.row - 1] + span.column - 1

    def end(self, node: ast.AST) -> int:
        span = self._span(node)
        return self._starts[span.end_row - 1] + span.end_column - 1

    def _span(self, node: ast.AST) -> Span:
        """Where a node stands in this text; refused for one that stands in another."""
        refuse(not self.source.holds(node), "a node of another tree")
        return self.source.span(node)

    def text_of(self, node: ast.AST) -> str:
        return self.text[self.begin(node) : self.end(node)]

    def first_row(self, node: ast.AST) -> int:
        """The row on which a node begins; a decorated definition begins at its first decorator."""
        decorators = getattr(node, "decorator_list", None)
        return self.bare_row(decorators[0] if decorators else node)

    def bare_row(self, node: ast.AST) -> int:
        """The row on which a node begins, or the header of a definition below its decorators."""
        return int(node.lineno)  # type: ignore[attr-defined]

    def last_row(self, node: ast.AST) -> int:
        return int(node.end_lineno)  # type: ignore[attr-defined]

    # Edits

    def edit(self, begin: int, end: int, content: str) -> Edit:
        return Edit(Span(*self.position(begin), *self.position(end)), content)

    def insert(self, at: int, content: str) -> Edit:
        return self.edit(at, at, content)

    def position(self, offset: int) -> tuple[int, int]:
        """The row and the column at an offset, both from 1."""
        row = bisect_right(self._starts, offset)
        return row, offset - self._starts[row - 1] + 1

    # Rows

    @cached_property
    def eol(self) -> str:
        """How the rows of this file end."""
        ends = re.search(r"\r\n|\r|\n", self.text)
        return ends.group() if ends else "\n"

    def indent_of_row(self, row: int) -> str:
        found = INDENT.match(self.rows[row - 1].removeprefix("\ufeff"))
        return found.group() if found else ""

    def starts_row(self, statement: ast.AST) -> bool:
        """Whether nothing but indentation stands before a statement."""
        row = self.first_row(statement)
        if self.code_start(row) != self.begin(statement):
            return False
        above = self.rows[row - 2] if row > 1 else ""
        return not above.endswith("\\") or "#" in above

    def tail(self, statement: ast.AST) -> tuple[bool, int | None]:
        """Whether nothing but a semicolon and a comment follow on a statement's last row, and where the comment is."""
        row = self.last_row(statement)
        start = self._starts[row - 1]
        found = _TAIL.fullmatch(self.rows[row - 1], self.end(statement) - start)
        if not found:
            return False, None
        return True, start + found.start(1) if found.group(1) else None

    def shares_row(self, first: ast.stmt, second: ast.stmt) -> bool:
        """Whether two neighbours are held together by a semicolon."""
        return JOINT.fullmatch(self.text, self.end(first), self.begin(second)) is not None

    # The tree

    def path(self, node: ast.AST) -> tuple[ast.AST, ...]:
        """The nodes from the module down to ``node``, both included."""
        require(hasattr(node, "lineno"), "a node without a place")
        row = self.bare_row(node)
        pending: list[tuple[ast.AST, ...]] = [(self.source.tree,)]
        while pending:
            path = pending.pop()
            if path[-1] is node:
                return path
            pending.extend((*path, child) for child in ast.iter_child_nodes(path[-1]) if self._may_hold(child, row))
        raise EditRefused("a node of another tree")

    def _may_hold(self, node: ast.AST, row: int) -> bool:
        if not isinstance(node, (ast.stmt, ast.expr)):
            return True
        return self.first_row(node) <= row <= self.last_row(node)

    def place(self, node: ast.AST) -> Place:
        """The statement that ``node`` is, or that most closely holds it."""
        path = self.path(node)
        for depth in range(len(path) - 1, 0, -1):
            statement = path[depth]
            if isinstance(statement, ast.stmt):
                owner = path[depth - 1]
                for suite in suites(owner):
                    if (index := index_of(statement, suite)) is not None:
                        return Place(statement, suite, index, owner, path[:depth])
        raise EditRefused("not in a statement")

    def whole(self, node: ast.AST) -> Place:
        """The statement that ``node`` is or is in; refused where that has statements of its own, as a loop's header."""
        place = self.place(node)
        refuse(place.statement is not node and hasattr(place.statement, "body"), "in the header of other statements")
        return place

    def scopes(self, place: Place) -> list[ast.AST]:
        """The scopes whose names a statement sees, innermost first."""
        found = [node for node in place.parents if isinstance(node, SCOPES)][::-1]
        return [s for i, s in enumerate(found) if i == 0 or not isinstance(s, ast.ClassDef)]


SCOPES = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def suites(owner: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks of statements directly in a node."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(owner, field, None)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            yield block


def index_of(node: ast.AST, among: Sequence[ast.AST]) -> int | None:
    """Where a node itself stands among others."""
    return next((index for index, other in enumerate(among) if other is node), None)


def siblings(places: list[Place]) -> None:
    """Refuse statements that are not all different ones of one suite."""
    is_one_suite = all(a.suite is b.suite for a, b in pairwise(places))
    refuse(not is_one_suite or len({p.index for p in places}) < len(places), "statements of different suites")
