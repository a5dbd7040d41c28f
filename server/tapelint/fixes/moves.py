"""Moving a statement past its siblings."""

from __future__ import annotations

import ast

from ..source.edit import Edit
from .names import leaves, may_swap
from .refused import Refused
from .rows import block, owns_rows, take_out, top_row
from .sheet import Place, Sheet, siblings, suites

_JUMPS = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal)


def move(sheet: Sheet, statement: ast.AST, anchor: ast.AST, *, after: bool) -> list[Edit]:
    """``statement`` next to ``anchor``, refused where the statements it passes depend on it by name or may jump."""
    moved, fixed = sheet.whole(statement), sheet.whole(anchor)
    siblings([moved, fixed])
    goal = fixed.index + after
    if goal in (moved.index, moved.index + 1):
        raise Refused("there already")
    crossed = moved.suite[moved.index + 1 : goal] or moved.suite[goal : moved.index]
    if not may_swap([moved.statement], crossed) or leaves([moved.statement, *crossed], _JUMPS):
        raise Refused("the order matters")
    gone = take_out(sheet, moved, with_comments=owns_rows(sheet, moved.statement))
    return [gone, _put_next_to(sheet, moved, fixed, after=after)]


def _put_next_to(sheet: Sheet, moved: Place, anchor: Place, *, after: bool) -> Edit:
    indent = sheet.indent_of_row(sheet.first_row(anchor.statement))
    if owns_rows(sheet, anchor.statement) or (sheet.starts_row(anchor.statement) and not after):
        text = block(sheet, moved, indent)
        if not after:
            return sheet.insert(sheet.row_start(top_row(sheet, anchor)), text + sheet.eol)
        last = sheet.last_row(anchor.statement)
        if last == len(sheet.rows):
            return sheet.insert(len(sheet.text), sheet.eol + text)
        return sheet.insert(sheet.row_start(last + 1), text + sheet.eol)
    text = block(sheet, moved, "")
    if "\n" in text or "\r" in text or "#" in text or ";" in text or getattr(moved.statement, "body", None):
        raise Refused("it does not fit between statements of one row")
    if after:
        return sheet.insert(sheet.end(anchor.statement), "; " + text)
    return sheet.insert(sheet.begin(anchor.statement), text + "; ")


def relocate(sheet: Sheet, statement: ast.AST, anchor: ast.AST, *, after: bool) -> list[Edit]:
    """``statement`` next to ``anchor``, which may stand in another suite, further out or in. Refused where a name
    that it reads is bound between, or in a loop around one of them that the other is not in.
    """
    moved, fixed = sheet.whole(statement), sheet.place(anchor)
    if not isinstance(moved.statement, ast.Expr):
        raise Refused("more than a call")
    ours, theirs = (*moved.parents, moved.statement), (*fixed.parents, fixed.statement)
    shorter = min(len(ours), len(theirs)) - 1
    depth = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a is not b), shorter)
    inner = [node for node in (*ours[depth:], *theirs[depth:]) if node is not moved.statement]
    scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    if any(isinstance(node, scopes) for node in inner[:-1]):
        raise Refused("a name may mean something else there")
    shared = [s for suite in suites(ours[depth - 1]) for s in suite]
    rows = sorted((moved.statement.lineno, fixed.statement.lineno))
    crossed = [s for s in shared if s.lineno <= rows[1] and (s.end_lineno or s.lineno) >= rows[0]]
    if not may_swap([moved.statement], [s for s in crossed if s is not moved.statement]):
        raise Refused("the order matters")
    gone = take_out(sheet, moved, with_comments=owns_rows(sheet, moved.statement))
    return [gone, _put_next_to(sheet, moved, fixed, after=after)]
