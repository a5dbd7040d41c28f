"""Where a comment that silences a finding can stand, and what to write there.

    y += 1  # noqa                      a second comment follows the first
    y += 1  # tapelint: ignore[TL102]   the list grows
    y = f(a, \\
          b)                            after a backslash no comment is legal; on the last line of the statement it is

A comment on any line of a statement speaks for all of them, so the first line from the finding on that can take one
will do. One for the whole file stands below what must come first: ``#!``, the encoding, the docstring.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ...frozen import frozen
from ..edit import Edit, Span, apply
from ..lexing import tokens
from ..parsing import Source, parse
from . import Suppression
from .grammar import Form

_CODING = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*[-\w.]+")
_BOM = "\ufeff"


def ignore_here(source: Source, code: str, row: int, reason: str = "") -> Edit | None:
    """The edit that silences ``code`` where it is reported on ``row``; None where there is no place for a comment. A
    new comment has the ``reason`` after it, a list that grows keeps its own.
    """
    if not 0 < row <= len(source.lines) or source.is_skipped:
        return None
    for entry in source.suppressions.entries:
        if entry.says.form in (Form.IGNORE, Form.NEXT_LINE) and entry.first <= row <= entry.last:
            longer = _longer(entry, code)
            if longer is not None:
                return longer
    first, last = _statement(source.tree, row)
    place = _place(source.lines[first - 1 : last], row - first)
    if place is None:
        return None
    row = first + place
    line = source.lines[row - 1]
    bare = line.rstrip()
    start, end = len(bare) + 1, len(line) + 1
    comment = f"{'  ' if bare else ''}# tapelint: ignore[{code}]{reason and f' {reason}'}"
    return Edit(Span(row, start, row, end), comment)


def ignore_in_file(source: Source, code: str) -> Edit | None:
    """The edit that silences ``code`` in the whole file; None where no comment can do that."""
    if source.is_skipped or any(entry.is_for_file and entry.codes is None for entry in source.suppressions.entries):
        return None
    for entry in source.suppressions.entries:
        if entry.is_for_file and (longer := _longer(entry, code)) is not None:
            return longer
    comment = f"# tapelint: ignore-file[{code}]"
    return next((edit for row in _tops(source) if _is_kept(source, edit := _row_above(source, row, comment))), None)


@frozen
class Added:
    """A text with its new comments; ``left`` are the findings, by code and row, that none of them silences."""

    text: str
    left: tuple[tuple[str, int], ...] = ()


def with_ignores(source: Source, findings: Iterable[tuple[str, int]], reason: str = "") -> Added:
    """The text of ``source`` with a comment, and the ``reason`` in it, for each of ``findings``, given by code and row.
    It means the same to Python; where that cannot be had, nothing is changed.
    """
    asked, before = sorted(set(findings), key=lambda each: (each[1], each[0])), source
    for code, row in asked:
        edit = None if source.suppressions.covers(code, row) else ignore_here(source, code, row, reason)
        if edit is not None:  # it has one row, so the tree stands where it stood
            source = replace(source, text=apply(source.text, [edit]))
    after = parse(source.text, source.path, source.cells)
    if not _same(before, after):
        return Added(before.text, tuple(asked))
    return Added(after.text, tuple(each for each in asked if not after.suppressions.covers(*each)))


def _longer(entry: Suppression, code: str) -> Edit | None:
    """The edit that adds a code to a list in brackets; None where there is none."""
    listed = entry.says.listed
    if not listed or entry.says.flaw is not None:
        return None
    row, end = entry.span.row, listed[-1].span.end_column
    return Edit(Span(row, end, row, end), f", {code}")


def _tops(source: Source) -> Iterator[int]:
    """The rows, in order of preference, above which a comment for the whole file can stand: one more than there are is
    below the last.
    """
    if source.cells:
        yield from (
            cell.first for cell in source.cells if cell.rows and not source.lines[cell.first - 1].startswith("%%")
        )
        return
    top = 1
    for row, line in enumerate(source.lines[:2], 1):
        if row == 1 and line.removeprefix(_BOM).startswith("#!") or _CODING.match(line.removeprefix(_BOM)):
            top = row + 1
    if source.tree.body and isinstance(docstring := source.tree.body[0], ast.Expr) and _is_text(docstring.value):
        yield (docstring.end_lineno or docstring.lineno) + 1
    yield top


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _row_above(source: Source, row: int, text: str) -> Edit:
    """The edit that puts a row of text above another one."""
    eol = "\r\n" if "\r\n" in source.text else "\r" if "\r" in source.text and "\n" not in source.text else "\n"
    if row > len(source.lines):
        end = len(source.lines[-1]) + 1
        return Edit(Span(row - 1, end, row - 1, end), eol + text)
    column = 2 if row == 1 and source.text.startswith(_BOM) else 1
    return Edit(Span(row, column, row, column), text + eol)


def _is_kept(source: Source, edit: Edit) -> bool:
    """Whether a text means the same after an edit that adds a comment."""
    return bool(source.cells) or _same(source, parse(apply(source.text, [edit]), source.path))


def _same(before: Source, after: Source) -> bool:
    same = len(before.problems) == len(after.problems) and before.is_skipped == after.is_skipped
    return same and ast.dump(before.tree) == ast.dump(after.tree)


def _statement(tree: ast.Module, row: int) -> tuple[int, int]:
    """The rows of the innermost statement on ``row``: a safe place to begin reading tokens."""
    first, last = row, row
    body: list[ast.AST] = [tree]
    while body:
        inside: list[ast.AST] = []
        for node in body:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.stmt):
                    begin = min([child.lineno, *(mark.lineno for mark in getattr(child, "decorator_list", ()))])
                    if begin <= row <= (child.end_lineno or begin):
                        first, last = begin, child.end_lineno or begin
                        inside.append(child)
                elif isinstance(child, (ast.excepthandler, ast.match_case)):
                    inside.append(child)
        body = inside
    return first, last


def _place(lines: tuple[str, ...], row: int) -> int | None:
    """The first line from ``row`` on (both from 0) where a comment may end the line, within its logical line."""
    at, depth = 0, 0
    joined: set[int] = set()
    for token in tokens("".join(f"{line}\n" for line in lines)):
        kind, value = token.lastgroup, token.group()
        height = value.count("\n")
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        elif kind in ("string", "join"):
            joined.update(range(at, at + height))
        elif kind == "newline" and at >= row:
            if at not in joined:
                return at
            if not depth:
                return None
        at += height
    return None
