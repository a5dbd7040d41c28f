"""Where what has a body is shown: a definition by its name, a loop by its head. The body may be of any length.

def step(self, batch):     step
for batch in loader:       for batch in loader
"""

from __future__ import annotations

import ast
import re

from .parsing import Source
from .span import Span

_DEFINED = re.compile(r"(?:async\s+)?(?:def|class)\s+(\w+)")


def head(source: Source, node: ast.AST) -> Span:
    """The part of a node that stands for all of it; what has no body is shown as it is."""
    span = source.span(node)
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            line = source.lines[span.row - 1] if span.row <= len(source.lines) else ""
            found = _DEFINED.match(line, span.column - 1)
            return Span(span.row, found.start(1) + 1, span.row, found.end(1) + 1) if found else span
        case ast.For(iter=last) | ast.AsyncFor(iter=last) | ast.While(test=last) | ast.If(test=last):
            return _until(span, source.span(last))
        case ast.With(items=items) | ast.AsyncWith(items=items):
            return _until(span, source.span(items[-1].optional_vars or items[-1].context_expr))
    return span


def _until(span: Span, last: Span) -> Span:
    return Span(span.row, span.column, last.end_row, last.end_column)
