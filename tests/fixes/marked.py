"""Code with its targets marked: ``y = «x»``; ``«2:...»`` where the order of targets is not that of the text."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tapelint.fixes import edits_for
from tapelint.rules.support.cure import FixProposal
from tapelint.source import Source, apply, parse

_MARK = re.compile(r"«(?:(\d):)?|»")


def fixed(purpose: str, marked: str) -> str | None:
    """The text after the fix, None if it is refused."""
    text, spans = _unmark(marked)
    source = parse(text)
    made = edits_for(source, FixProposal(purpose, purpose, tuple(_node(source, *span) for span in spans)))
    return None if made is None else apply(text, made)


def cases(file: Path) -> list[tuple[str, str, str | None]]:
    """Title, before and after of each section of a file; after is None where a section has one block only."""
    sections: list[tuple[str, list[str]]] = []
    is_code = False
    for row in file.read_text(encoding="utf-8").splitlines(keepends=True):
        if row.startswith("```"):
            is_code = not is_code
            if is_code:
                sections[-1][1].append("")
        elif is_code:
            sections[-1][1][-1] += row
        elif row.startswith("# "):
            sections.append((row[2:].strip(), []))
    assert all(len(blocks) in (1, 2) for _, blocks in sections), file
    return [(title, blocks[0], blocks[1] if len(blocks) == 2 else None) for title, blocks in sections]


def _unmark(marked: str) -> tuple[str, list[tuple[int, int]]]:
    text, at, opened, spans = "", 0, [], []
    for mark in _MARK.finditer(marked):
        text += marked[at : mark.start()]
        at = mark.end()
        if mark.group() == "»":
            spans.append((*opened.pop(), len(text)))
        else:
            opened.append((int(mark.group(1) or 0), len(text)))
    assert not opened, marked
    return text + marked[at:], [span[1:] for span in sorted(spans, key=lambda span: span[:2])]


def _node(source: Source, begin: int, end: int) -> ast.AST:
    """The outermost node that stands exactly there."""
    lines = source.text[:begin], source.text[:end]
    (row, column), (end_row, end_column) = (_position(text) for text in lines)
    for node in ast.walk(source.tree):
        if isinstance(node, (ast.stmt, ast.expr)):
            span = source.span(node)
            if (span.row, span.column, span.end_row, span.end_column) == (row, column, end_row, end_column):
                return node
    raise AssertionError(f"nothing stands at {source.text[begin:end]!r}")


def _position(text: str) -> tuple[int, int]:
    rows = re.split(r"\r\n|\r|\n", text)
    return len(rows), len(rows[-1]) + 1
