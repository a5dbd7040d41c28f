"""Moving a statement past its siblings."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ...source.edit import Edit
from .edit_refused import EditRefused
from .name_resolution import leaves, may_swap, read, written
from .rows import block, owns_rows, take_out, top_row
from .source_editor import Place, SourceEditor, siblings, suites

_JUMPS = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal)


def move(editor: SourceEditor, statement: ast.AST, anchor: ast.AST, *, after: bool) -> list[Edit]:
    """``statement`` next to ``anchor``, refused where the statements it passes depend on it by name or may jump."""
    moved, fixed = editor.whole(statement), editor.whole(anchor)
    siblings([moved, fixed])
    goal = fixed.index + after
    if goal in (moved.index, moved.index + 1):
        raise EditRefused("there already")
    crossed = moved.suite[moved.index + 1 : goal] or moved.suite[goal : moved.index]
    refuse_crossing(moved, crossed)
    gone = take_out(editor, moved, with_comments=owns_rows(editor, moved.statement))
    return [gone, _put_next_to(editor, moved, fixed, after=after)]


def move_all(editor: SourceEditor, targets: Iterable[ast.AST], anchor: ast.AST) -> list[Edit]:
    """Those statements that hold a target and stand in the suite of ``anchor`` above it, to just after it, in the order
    they had; refused where what they pass depends on them.
    """
    fixed = editor.whole(anchor)
    moved = above(editor, targets, fixed)
    for place in moved:
        between = fixed.suite[place.index + 1 : fixed.index + 1]
        refuse_crossing(place, [s for s in between if all(s is not other.statement for other in moved)])
    if not all(owns_rows(editor, p.statement) for p in (*moved, fixed)):
        return [e for p in moved for e in _moved(editor, p, fixed)]
    indent = editor.indent_of_row(editor.first_row(fixed.statement))
    text = editor.eol.join(block(editor, place, indent) for place in moved)
    return [*(take_out(editor, p, with_comments=True) for p in moved), _put_text(editor, text, fixed)]


def above(editor: SourceEditor, targets: Iterable[ast.AST], anchor: Place) -> list[Place]:
    """The statements with a target above ``anchor`` in its suite, in their order; refused where one is compound."""
    places = [editor.place(target) for target in targets]
    found = {p.index: p for p in places if p.suite is anchor.suite and p.index < anchor.index}
    if not found or any(hasattr(p.statement, "body") for p in found.values()):
        raise EditRefused("nothing that can be moved")
    return [found[index] for index in sorted(found)]


def refuse_crossing(moved: Place, crossed: list[ast.stmt], *, stays: bool = False) -> None:
    """Refuse where a statement and those it passes depend on each other by name, or one of them may jump. What they
    read does not matter where the statement ``stays`` and is only made once more.
    """
    moves = may_swap([moved.statement], crossed)
    if stays:
        names = written([moved.statement]) | read([moved.statement])
        moves = not names & written(crossed)
    if not moves or leaves([moved.statement, *crossed], _JUMPS):
        raise EditRefused("the order matters")


def _moved(editor: SourceEditor, moved: Place, anchor: Place) -> list[Edit]:
    gone = take_out(editor, moved, with_comments=owns_rows(editor, moved.statement))
    return [gone, _put_next_to(editor, moved, anchor, after=True)]


def _put_text(editor: SourceEditor, text: str, anchor: Place) -> Edit:
    """Whole rows just below a statement."""
    last = editor.last_row(anchor.statement)
    if last == len(editor.rows):
        return editor.insert(len(editor.text), editor.eol + text)
    return editor.insert(editor.row_start(last + 1), text + editor.eol)


def _put_next_to(editor: SourceEditor, moved: Place, anchor: Place, *, after: bool) -> Edit:
    indent = editor.indent_of_row(editor.first_row(anchor.statement))
    if owns_rows(editor, anchor.statement) or (editor.starts_row(anchor.statement) and not after):
        text = block(editor, moved, indent)
        if not after:
            return editor.insert(editor.row_start(top_row(editor, anchor)), text + editor.eol)
        return _put_text(editor, text, anchor)
    text = block(editor, moved, "")
    if "\n" in text or "\r" in text or "#" in text or ";" in text or getattr(moved.statement, "body", None):
        raise EditRefused("it does not fit between statements of one row")
    if after:
        return editor.insert(editor.end(anchor.statement), "; " + text)
    return editor.insert(editor.begin(anchor.statement), text + "; ")


def relocate(editor: SourceEditor, statement: ast.AST, anchor: ast.AST, *, after: bool) -> list[Edit]:
    """``statement`` next to ``anchor``, which may stand in another suite, further out or in. Refused where a name
    that it reads is bound between, or in a loop around one of them that the other is not in.
    """
    moved, fixed = editor.whole(statement), editor.place(anchor)
    if not isinstance(moved.statement, ast.Expr):
        raise EditRefused("more than a call")
    ours, theirs = (*moved.parents, moved.statement), (*fixed.parents, fixed.statement)
    shorter = min(len(ours), len(theirs)) - 1
    depth = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a is not b), shorter)
    inner = [node for node in (*ours[depth:], *theirs[depth:]) if node is not moved.statement]
    scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    if any(isinstance(node, scopes) for node in inner[:-1]):
        raise EditRefused("a name may mean something else there")
    rows = sorted((moved.statement.lineno, fixed.statement.lineno))
    crossed = [s for s in _within(ours[depth - 1], *rows) if s is not moved.statement]
    if not may_swap([moved.statement], crossed):
        raise EditRefused("the order matters")
    gone = take_out(editor, moved, with_comments=owns_rows(editor, moved.statement))
    return [gone, _put_next_to(editor, moved, fixed, after=after)]


def _within(holder: ast.AST, first: int, last: int) -> list[ast.stmt]:
    """The statements of a node's suites that have a row from ``first`` to ``last``."""
    shared = (s for suite in suites(holder) for s in suite)
    return [s for s in shared if s.lineno <= last and (s.end_lineno or s.lineno) >= first]
