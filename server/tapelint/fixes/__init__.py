"""How a fix changes text: a table of purposes (``purposes.py``), each a function from nodes to edits.

A rule proposes a change (:class:`~tapelint.rules.support.cure.FixProposal`); this package makes it. Everything is
computed on demand, when the user opens the lightbulb or passes ``--fix``, so the table is not imported before it is
asked for. What a purpose promises, and this module checks once for all of them:

* the new text parses, and no comment is lost, doubled or swallowed;
* an edit of a notebook stands in one cell;
* an edit covers only what changes, so formatting, line endings, tabs and byte order marks stay as they were;
* each node stands in the text that is edited: one of an imported file has another row there;
* where any of this cannot be kept, there is no edit at all: ``None``.
"""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from collections import Counter
from importlib import import_module
from typing import TYPE_CHECKING

from ..source.cells import in_cell
from ..source.edit import Edit, apply
from .text.source_editor import EditRefused, SourceEditor

if TYPE_CHECKING:
    from ..rules.support.cure import FixProposal
    from ..source import Source
    from .purposes import Purpose

__all__ = ["cuts", "edits_for"]


def edits_for(source: Source, cure: FixProposal) -> tuple[Edit, ...] | None:
    """The edits that make ``cure`` happen in ``source.text``, in order; None where that cannot be done safely."""
    if not all(source.holds(node) for node in cure.nodes if hasattr(node, "lineno")):
        return None
    editor = SourceEditor(source)
    made: list[Edit] = []
    for part in (cure, *cure.also):
        try:
            made += _purpose(part).edits(editor, *part.targets)
        except (EditRefused, RecursionError):
            return None
    within = [in_cell(edit, source.cells, source.lines) if source.cells else edit for edit in made]
    found = tuple(sorted((edit for edit in within if edit is not None), key=lambda edit: edit.span))
    if len(found) < len(made):
        return None
    return found if found and _keeps_promise(source, found) else None


def cuts(cure: FixProposal) -> bool:
    """Whether ``cure`` takes something out of a graph."""
    return _purpose(cure).cuts


def _purpose(cure: FixProposal) -> Purpose:
    """The row of the table, which the first cure loads. Raises ValueError where there is none."""
    table: dict[str, Purpose] = import_module(".purposes", __name__).PURPOSES
    if cure.purpose not in table:
        raise ValueError(f"no such purpose: {cure.purpose!r}")
    return table[cure.purpose]


def _keeps_promise(source: Source, made: tuple[Edit, ...]) -> bool:
    """Whether the edits, which may not overlap, leave a program with the comments that it had."""
    before = source.code
    try:
        after = apply(before, made)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(after.removeprefix("\ufeff"))
        first, rest = _changed_rows(source, made)
        return after != before and _comments(after, first, rest) == _comments(before, first, rest)
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError):
        return False


def _changed_rows(source: Source, made: tuple[Edit, ...]) -> tuple[int, int]:
    """How many rows stand above and below what is changed, in whole statements: to read all rows takes seconds."""
    plain = (s for s in source.tree.body if s.col_offset == 0 and not getattr(s, "decorator_list", None))
    starts = [0, *(statement.lineno - 1 for statement in plain)]
    first, last = made[0].span.row - 1, max(edit.span.end_row for edit in made)
    above = max(row for row in starts if row <= first)
    return above, len(source.lines) - min((row for row in starts if row >= last), default=len(source.lines))


def _comments(text: str, above: int, below: int) -> Counter[str]:
    """The comments of a text but for some rows above and below."""
    rows = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    some = "\n".join(rows[above : len(rows) - below])
    tokens = tokenize.generate_tokens(io.StringIO(some).readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)
