"""Statements as rows: which rows are theirs, how to take them out, and how to put them in elsewhere.

Moving and indenting need no syntax tree of the text, only its rows. What makes it delicate is that rows and statements
do not always agree: comments belong to the statement below them, ``a; b`` is one row, ``for x in y: a`` hides a suite
in its header, and a row may begin inside a string, where indentation is content.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from itertools import pairwise

from ...source.edit import Edit
from .edit_refused import EditRefused
from .source_editor import SCOPES, Place, SourceEditor, suites

_ATTACHED = re.compile(r"[ \t\f]*#(?!\s?%%|!)(?!.*?coding[:=])")
"""A comment that goes with the statement below it: not a notebook cell, not ``#!``, not an encoding."""

_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Delete, ast.Assert)


def is_inline(sheet: SourceEditor, place: Place) -> bool:
    """Whether the suite stands on the row of its header, as in ``for x in y: a; b``."""
    return not isinstance(place.owner, ast.Module) and not sheet.starts_row(place.suite[0])


def indent_of(sheet: SourceEditor, place: Place) -> str:
    """The indentation of a suite; of one on the row of its header, the one it would have below it."""
    if is_inline(sheet, place):
        return _indent_of_owner(sheet, place) + indent_unit(sheet, place)
    return sheet.indent_of_row(sheet.first_row(place.suite[0]))


def indent_unit(sheet: SourceEditor, place: Place) -> str:
    """One level of indentation, as the code around ``place`` has it, else as the file has it."""
    if not isinstance(place.owner, ast.Module) and not is_inline(sheet, place):
        return _step(_indent_of_owner(sheet, place), sheet.indent_of_row(sheet.first_row(place.suite[0])))
    for owner in (place.owner, *ast.walk(sheet.source.tree)):
        for suite in suites(owner) if isinstance(owner, (ast.For, ast.While, ast.If, ast.With, *SCOPES[1:])) else ():
            if sheet.starts_row(suite[0]):
                return _step(sheet.indent_of_row(sheet.bare_row(owner)), sheet.indent_of_row(sheet.first_row(suite[0])))
    return "    "


def _step(outer: str, inner: str) -> str:
    if not inner.startswith(outer) or inner == outer:
        raise EditRefused("tabs and spaces are mixed")
    return inner[len(outer) :]


def _indent_of_owner(sheet: SourceEditor, place: Place) -> str:
    owner = place.owner.pattern if isinstance(place.owner, ast.match_case) else place.owner
    return sheet.indent_of_row(sheet.bare_row(owner))


def after_header(sheet: SourceEditor, place: Place) -> int:
    """Where the colon before a suite on the row of its header ends."""
    at = sheet.begin(place.suite[0])
    while at and sheet.text[at - 1] in " \t\f\\\r\n":
        at -= 1
    if at == 0 or sheet.text[at - 1] != ":":
        raise EditRefused("no colon before the suite")
    return at


def top_row(sheet: SourceEditor, place: Place) -> int:
    """The first row of a statement and of the comments that go with it; one that silences it does from farther away."""
    row = sheet.first_row(place.statement)
    indent = sheet.indent_of_row(row)
    floor = sheet.last_row(place.suite[place.index - 1]) if place.index else getattr(place.owner, "lineno", 0)
    while row - 1 > floor and sheet.indent_of_row(row - 1) == indent:
        if not _ATTACHED.match(sheet.rows[row - 2].removeprefix("\ufeff")):
            break
        row -= 1
    silencing = (e.first for e in sheet.source.suppressions.entries if floor < e.first < row <= e.last)
    return min(silencing, default=row)


def owns_rows(sheet: SourceEditor, statement: ast.stmt) -> bool:
    """Whether no other statement is on the rows of this one."""
    return sheet.starts_row(statement) and sheet.tail(statement)[0]


def rows_within_strings(sheet: SourceEditor, first: ast.stmt, last: ast.stmt) -> set[int]:
    """The rows from ``first`` to ``last`` that begin inside a string literal."""
    top = sheet.first_row(first)
    indent = sheet.indent_of_row(top)
    text = indent + re.sub(r"\r\n?", "\n", sheet.text[sheet.begin(first) : sheet.end(last)]) + "\n"
    found: set[int] = set()
    opened: list[int] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            kind = tokenize.tok_name[token.type]
            if kind == "STRING":
                found.update(range(top + token.start[0], top + token.end[0]))
            elif kind in ("FSTRING_START", "TSTRING_START"):
                opened.append(token.start[0])
            elif kind in ("FSTRING_END", "TSTRING_END"):
                found.update(range(top + opened.pop(), top + token.end[0]))
    except (tokenize.TokenError, SyntaxError) as error:
        raise EditRefused("the tokenizer does not read it") from error
    return found


def block(sheet: SourceEditor, place: Place, indent: str) -> str:
    """A statement with its comments, indented anew, without the end of its last row."""
    statement = place.statement
    if not owns_rows(sheet, statement):
        if not isinstance(statement, _SIMPLE):
            raise EditRefused("a compound statement that shares its row")
        return indent + sheet.text_of(statement)
    old = sheet.indent_of_row(sheet.first_row(statement))
    top, last = top_row(sheet, place), sheet.last_row(statement)
    fixed = rows_within_strings(sheet, statement, statement)
    rows = []
    for row in range(top, last + 1):
        text = sheet.rows[row - 1].removeprefix("\ufeff")
        rows.append(indent + text[len(old) :] if row not in fixed and text.startswith(old) and text.strip() else text)
    return sheet.eol.join(rows)


def take_out(sheet: SourceEditor, place: Place, *, with_comments: bool) -> Edit:
    """The edit that removes a statement; ``with_comments`` if the comments that go with it go as well."""
    statement, (alone, comment) = place.statement, sheet.tail(place.statement)
    if len(place.suite) == 1:
        raise EditRefused("a suite would be left empty")
    if sheet.starts_row(statement) and alone:
        if with_comments:
            return _without_rows(sheet, top_row(sheet, place), sheet.last_row(statement))
        if comment is not None:
            return sheet.edit(sheet.begin(statement), comment, "")
        return _without_rows(sheet, sheet.first_row(statement), sheet.last_row(statement))
    following = place.suite[place.index + 1 : place.index + 2]
    if following and sheet.shares_row(statement, following[0]):
        return sheet.edit(sheet.begin(statement), sheet.begin(following[0]), "")
    if place.index and sheet.shares_row(place.suite[place.index - 1], statement):
        return sheet.edit(sheet.end(place.suite[place.index - 1]), sheet.end(statement), "")
    raise EditRefused("a statement in an unexpected place")


def _without_rows(sheet: SourceEditor, first: int, last: int) -> Edit:
    """Rows taken out with one line end: a file whose last row has none keeps it that way."""
    begin, end = sheet.row_start(first), sheet.row_start(last + 1)
    if last == len(sheet.rows) and first > 1:
        begin = sheet.row_start(first - 1) + len(sheet.rows[first - 2].removeprefix("\ufeff"))
    return sheet.edit(begin, end, "")


def put_before(sheet: SourceEditor, place: Place, text: str) -> Edit:
    """The edit that inserts one row of code, given without indentation, before a statement."""
    statement = place.statement
    if is_elif(sheet, place):
        raise EditRefused("nothing can stand before elif")
    if sheet.starts_row(statement):
        content = indent_of(sheet, place) + text + sheet.eol
        return sheet.insert(sheet.row_start(top_row(sheet, place)), content)
    return sheet.insert(sheet.begin(statement), text + "; ")


def put_after(sheet: SourceEditor, place: Place, text: str) -> Edit:
    """The edit that inserts one row of code, given without indentation, after a statement."""
    statement = place.statement
    if isinstance(statement, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
        raise EditRefused("nothing is reached after it")
    if not sheet.starts_row(statement) or not sheet.tail(statement)[0]:
        if not isinstance(statement, _SIMPLE):
            raise EditRefused("a compound statement that shares its row")
        return sheet.insert(sheet.end(statement), "; " + text)
    last = sheet.last_row(statement)
    row = indent_of(sheet, place) + text
    if last == len(sheet.rows):
        return sheet.insert(len(sheet.text), sheet.eol + row)
    return sheet.insert(sheet.row_start(last + 1), row + sheet.eol)


def is_elif(sheet: SourceEditor, place: Place) -> bool:
    return isinstance(place.statement, ast.If) and sheet.text.startswith("elif", sheet.begin(place.statement))


def must_stay_first(place: Place) -> bool:
    """Whether a statement is a docstring or a future import, before which nothing may stand."""
    statement = place.statement
    if isinstance(statement, ast.Expr):
        return place.index == 0 and isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str)
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def run(places: list[Place]) -> list[Place]:
    """Statements in the order of the text; refused if they are not neighbours in one suite."""
    ordered = sorted(places, key=lambda place: place.index)
    if any(a.suite is not b.suite or b.index != a.index + 1 for a, b in pairwise(ordered)):
        raise EditRefused("not consecutive statements")
    return ordered
