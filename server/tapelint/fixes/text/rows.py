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
from collections.abc import Iterable
from itertools import pairwise

from ...source.edit import Edit
from .expressions import steady
from .source_editor import SCOPES, EditRefused, Place, SourceEditor, demand, refuse, require, suites

_ATTACHED = re.compile(r"[ \t\f]*#(?!\s?%%|!)(?!.*?coding[:=])")
"""A comment that may go with the statement below it: not a notebook cell, not ``#!``, not an encoding."""

_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Delete, ast.Assert)


def is_inline(editor: SourceEditor, place: Place) -> bool:
    """Whether the suite stands on the row of its header, as in ``for x in y: a; b``."""
    return not isinstance(place.owner, ast.Module) and not editor.starts_row(place.suite[0])


def indent_of(editor: SourceEditor, place: Place) -> str:
    """The indentation of a suite; of one on the row of its header, the one it would have below it."""
    if is_inline(editor, place):
        return _indent_of_owner(editor, place) + indent_unit(editor, place)
    return editor.indent_of_row(editor.first_row(place.suite[0]))


def indent_unit(editor: SourceEditor, place: Place) -> str:
    """One level of indentation, as the code around ``place`` has it, else as the file has it."""
    if not isinstance(place.owner, ast.Module) and not is_inline(editor, place):
        return _step(_indent_of_owner(editor, place), editor.indent_of_row(editor.first_row(place.suite[0])))
    for owner in (place.owner, *ast.walk(editor.source.tree)):
        for suite in suites(owner) if isinstance(owner, (ast.For, ast.While, ast.If, ast.With, *SCOPES[1:])) else ():
            if editor.starts_row(suite[0]):
                return _step(
                    editor.indent_of_row(editor.bare_row(owner)), editor.indent_of_row(editor.first_row(suite[0]))
                )
    return "    "


def _step(outer: str, inner: str) -> str:
    refuse(not inner.startswith(outer) or inner == outer, "tabs and spaces are mixed")
    return inner[len(outer) :]


def _indent_of_owner(editor: SourceEditor, place: Place) -> str:
    owner = place.owner.pattern if isinstance(place.owner, ast.match_case) else place.owner
    return editor.indent_of_row(editor.bare_row(owner))


def after_header(editor: SourceEditor, place: Place) -> int:
    """Where the colon before a suite on the row of its header ends."""
    at = editor.begin(place.suite[0])
    while at and editor.text[at - 1] in " \t\f\\\r\n":
        at -= 1
    refuse(at == 0 or editor.text[at - 1] != ":", "no colon before the suite")
    return at


def top_row(editor: SourceEditor, place: Place) -> int:
    """The first row of a statement and of the comments that go with it; one that silences it does from farther away.
    Between them may be comments that stay where they are.
    """
    row = editor.first_row(place.statement)
    indent = editor.indent_of_row(row)
    floor = editor.last_row(place.suite[place.index - 1]) if place.index else getattr(place.owner, "lineno", 0)
    stay = editor.source.suppressions.rows_that_stay
    while row - 1 > floor and editor.indent_of_row(row - 1) == indent:
        if row - 1 in stay or not _ATTACHED.match(editor.rows[row - 2].removeprefix("\ufeff")):
            break
        row -= 1
    entries = (e for e in editor.source.suppressions.entries if e.first not in stay)
    return min((e.first for e in entries if floor < e.first < row <= e.last), default=row)


def _staying(editor: SourceEditor, place: Place) -> list[int]:
    """The rows of comments that stay where they are when a statement and those that go with it are moved."""
    above = range(top_row(editor, place), editor.first_row(place.statement))
    return [row for row in above if row in editor.source.suppressions.rows_that_stay]


def owns_rows(editor: SourceEditor, statement: ast.stmt) -> bool:
    """Whether no other statement is on the rows of this one."""
    return editor.starts_row(statement) and editor.tail(statement)[0]


def rows_within_strings(editor: SourceEditor, first: ast.stmt, last: ast.stmt) -> set[int]:
    """The rows from ``first`` to ``last`` that begin inside a string literal."""
    top = editor.first_row(first)
    indent = editor.indent_of_row(top)
    text = indent + re.sub(r"\r\n?", "\n", editor.text[editor.begin(first) : editor.end(last)]) + "\n"
    within: set[int] = set()
    opened: list[int] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            kind = tokenize.tok_name[token.type]
            if kind == "STRING":
                within.update(range(top + token.start[0], top + token.end[0]))
            elif kind in ("FSTRING_START", "TSTRING_START"):
                opened.append(token.start[0])
            elif kind in ("FSTRING_END", "TSTRING_END"):
                within.update(range(top + opened.pop(), top + token.end[0]))
    except (tokenize.TokenError, SyntaxError) as error:
        raise EditRefused("the tokenizer does not read it") from error
    return within


def block(editor: SourceEditor, place: Place, indent: str) -> str:
    """A statement with its comments, indented anew, without the end of its last row."""
    statement = place.statement
    if not owns_rows(editor, statement):
        require(isinstance(statement, _SIMPLE), "a compound statement that shares its row")
        return indent + editor.text_of(statement)
    old = editor.indent_of_row(editor.first_row(statement))
    top, last = top_row(editor, place), editor.last_row(statement)
    fixed, staying = rows_within_strings(editor, statement, statement), _staying(editor, place)
    rows = []
    for row in (row for row in range(top, last + 1) if row not in staying):
        text = editor.rows[row - 1].removeprefix("\ufeff")
        rows.append(indent + text[len(old) :] if row not in fixed and text.startswith(old) and text.strip() else text)
    return editor.eol.join(rows)


def take_out(editor: SourceEditor, place: Place, *, with_comments: bool = False) -> Edit:
    """The edit that removes a statement; ``with_comments`` if the comments that go with it go as well."""
    statement, (alone, comment) = place.statement, editor.tail(place.statement)
    refuse(len(place.suite) == 1, "a suite would be left empty")
    if editor.starts_row(statement) and alone:
        if with_comments:
            kept = "".join(editor.rows[row - 1].removeprefix("\ufeff") + editor.eol for row in _staying(editor, place))
            return _without_rows(editor, top_row(editor, place), editor.last_row(statement), kept)
        if comment is not None:
            return editor.edit(editor.begin(statement), comment, "")
        return _without_rows(editor, editor.first_row(statement), editor.last_row(statement))
    following = place.suite[place.index + 1 : place.index + 2]
    if following and editor.shares_row(statement, following[0]):
        return editor.edit(editor.begin(statement), editor.begin(following[0]), "")
    if place.index and editor.shares_row(place.suite[place.index - 1], statement):
        return editor.edit(editor.end(place.suite[place.index - 1]), editor.end(statement), "")
    raise EditRefused("a statement in an unexpected place")


def _without_rows(editor: SourceEditor, first: int, last: int, kept: str = "") -> Edit:
    """Rows taken out with one line end, but for those ``kept``: a file whose last row has none keeps it that way."""
    begin, end = editor.row_start(first), editor.row_start(last + 1)
    if last == len(editor.rows) and first > 1:
        begin = editor.row_end(first - 1)
        kept = editor.eol + kept.removesuffix(editor.eol) if kept else ""
    return editor.edit(begin, end, kept)


def put_rows_above(editor: SourceEditor, place: Place, *texts: str) -> Edit:
    """The edit that inserts whole rows above a statement and the comments that go with it."""
    return editor.insert(editor.row_start(top_row(editor, place)), "".join(text + editor.eol for text in texts))


def put_rows_below(editor: SourceEditor, statement: ast.stmt, *texts: str) -> Edit:
    """The edit that inserts whole rows below a statement."""
    last = editor.last_row(statement)
    if last == len(editor.rows):
        return editor.insert(len(editor.text), "".join(editor.eol + text for text in texts))
    return editor.insert(editor.row_start(last + 1), "".join(text + editor.eol for text in texts))


def put_before(editor: SourceEditor, place: Place, *texts: str) -> Edit:
    """The edit that inserts rows of code, given without indentation, before a statement."""
    refuse(must_stay_first(place) or is_elif(editor, place), "nothing may stand before it")
    if not editor.starts_row(place.statement):
        return editor.insert(editor.begin(place.statement), "".join(text + "; " for text in texts))
    indent = indent_of(editor, place)
    return put_rows_above(editor, place, *(indent + text for text in texts))


def put_after(editor: SourceEditor, place: Place, *texts: str) -> Edit:
    """The edit that inserts rows of code, given without indentation, after a statement."""
    statement = place.statement
    refuse(isinstance(statement, (ast.Return, ast.Raise, ast.Break, ast.Continue)), "nothing is reached after it")
    if not owns_rows(editor, statement):
        require(isinstance(statement, _SIMPLE), "a compound statement that shares its row")
        return editor.insert(editor.end(statement), "".join("; " + text for text in texts))
    indent = indent_of(editor, place)
    return put_rows_below(editor, statement, *(indent + text for text in texts))


def put_call(editor: SourceEditor, anchor: ast.AST, *values: ast.AST, call: str, after: bool = False) -> list[Edit]:
    """``call`` as a statement of its own before or after another one.

    Targets: the statement (or a call in it), and the values for ``{0}``, ``{1}`` in ``call``, as the program writes
    them there or elsewhere (:func:`steady`).
    """
    put = put_after if after else put_before
    return [put(editor, editor.whole(anchor), call.format(*map(steady, values)))]


def deepen(
    editor: SourceEditor, rows: Iterable[int], first: ast.stmt, last: ast.stmt, outer: str, unit: str
) -> list[Edit]:
    """``rows`` one level deeper than ``outer``, but not those that begin inside a string between two statements."""
    fixed = rows_within_strings(editor, first, last)
    texts = {row: editor.rows[row - 1] for row in rows if row not in fixed}
    starts = {row: len(outer) if text.startswith(outer) else 0 for row, text in texts.items() if text.strip()}
    return [editor.insert(editor.row_start(row) + more, unit) for row, more in starts.items()]


def is_elif(editor: SourceEditor, place: Place) -> bool:
    return isinstance(place.statement, ast.If) and editor.text.startswith("elif", editor.begin(place.statement))


def first_place(editor: SourceEditor, function: ast.FunctionDef) -> Place:
    """The first statement of a function before which others may stand."""
    places = (editor.place(statement) for statement in function.body)
    return demand(next((each for each in places if not must_stay_first(each)), None), "a function without statements")


def must_stay_first(place: Place) -> bool:
    """Whether a statement is a docstring or a future import, before which nothing may stand."""
    statement = place.statement
    if isinstance(statement, ast.Expr):
        return place.index == 0 and isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str)
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def run(places: list[Place]) -> list[Place]:
    """Statements in the order of the text; refused if they are not neighbours in one suite."""
    ordered = sorted(places, key=lambda place: place.index)
    require(
        all(a.suite is b.suite and b.index == a.index + 1 for a, b in pairwise(ordered)), "not consecutive statements"
    )
    return ordered
