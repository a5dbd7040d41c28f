"""Statements in a ``with`` that switches the grad mode."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ...source.edit import Edit
from .edit_refused import EditRefused
from .name_resolution import leaves, torch_name
from .rows import (
    after_header,
    indent_of,
    indent_unit,
    is_elif,
    is_inline,
    must_stay_first,
    rows_within_strings,
    run,
)
from .source_editor import Place, SourceEditor

_SUSPENDING = (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)


def wrapped(editor: SourceEditor, targets: Iterable[ast.AST], mode: str) -> list[Edit]:
    """Consecutive statements of one suite under ``torch.<mode>()``, by the name that this file has for it."""
    places = run([editor.whole(target) for target in targets])
    first, last = places[0], places[-1]
    _refuse_meaningless(editor, places)
    manager = torch_name(editor, first, mode)
    if manager is None:
        raise EditRefused("torch is not imported by name")

    suite, eol = first.suite, editor.eol
    outer, unit = indent_of(editor, first), indent_unit(editor, first)
    enter = f"with {manager}():{eol}{outer}{unit}"
    made: list[Edit] = []
    if is_inline(editor, first):
        header_end, begin = after_header(editor, first), editor.begin(suite[0])
        made.append(editor.edit(header_end, begin, eol + outer + (enter if first.index == 0 else "")))
    elif editor.starts_row(first.statement):
        made.append(editor.insert(editor.begin(first.statement), enter))
    if first.index and editor.shares_row(suite[first.index - 1], first.statement):
        made.append(_joint(editor, first.index - 1, suite, eol + outer + enter))
    if last.index + 1 < len(suite) and editor.shares_row(last.statement, suite[last.index + 1]):
        made.append(_joint(editor, last.index, suite, eol + outer))
    if not is_inline(editor, first):
        made += _shifted(editor, first, last, outer, unit)
    return made


def _refuse_meaningless(editor: SourceEditor, places: list[Place]) -> None:
    statements = [place.statement for place in places]
    if leaves(statements, _SUSPENDING):
        raise EditRefused("the mode would leak while it is suspended")
    if any(map(must_stay_first, places)):
        raise EditRefused("a docstring or a future import")
    if is_elif(editor, places[0]):
        raise EditRefused("elif has no row of its own")


def _joint(editor: SourceEditor, index: int, suite: list[ast.stmt], content: str) -> Edit:
    return editor.edit(editor.end(suite[index]), editor.begin(suite[index + 1]), content)


def _shifted(editor: SourceEditor, first: Place, last: Place, outer: str, unit: str) -> list[Edit]:
    """The rows below the first one deeper, but not those that begin inside a string."""
    top, bottom = editor.first_row(first.statement), editor.last_row(last.statement)
    fixed = rows_within_strings(editor, first.statement, last.statement)
    made = []
    for row in range(top + 1, bottom + 1):
        text = editor.rows[row - 1]
        if row not in fixed and text.strip():
            made.append(editor.insert(editor.row_start(row) + (len(outer) if text.startswith(outer) else 0), unit))
    return made
