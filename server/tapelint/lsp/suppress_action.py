"""Where a comment that silences a finding can stand, and what to write there.

    y += 1  # noqa                      a second comment follows the first
    y += 1  # tapelint: ignore[TL102]   the list grows
    y = f(a, \\
          b)                            after a backslash no comment is legal; on the last line of the statement it is

A comment on any line of a statement speaks for all of them, so the first line from the finding on that can take one
will do.
"""

from __future__ import annotations

import ast

from ..source import Edit, Source, Span
from ..source.lexing import tokens


def ignore_here(source: Source, code: str, row: int) -> Edit | None:
    """The edit that silences ``code`` where it is reported on ``row``; None where there is no place for a comment."""
    if not 0 < row <= len(source.lines) or source.is_skipped:
        return None
    for entry in source.suppressions.entries:
        if entry.codes and not entry.is_for_file and entry.first <= row <= entry.last:
            comment = source.lines[entry.span.row - 1][entry.span.column - 1 : entry.span.end_column - 1]
            if comment.endswith("]"):
                at = entry.span.end_column - 1
                return Edit(Span(entry.span.row, at, entry.span.row, at), f", {code}")
    first, last = _statement(source.tree, row)
    place = _place(source.lines[first - 1 : last], row - first)
    if place is None:
        return None
    row = first + place
    line = source.lines[row - 1]
    bare = line.rstrip()
    start, end = len(bare) + 1, len(line) + 1
    return Edit(Span(row, start, row, end), f"{'  ' if bare else ''}# tapelint: ignore[{code}]")


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
