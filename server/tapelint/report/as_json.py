"""The output for programs. One object per finding, and one for what was not seen of a file (TL910 to TL914):

code, name, severity (error | warning | information | hint), message, filename,
raises                        the error of PyTorch in its own words, or null where it raises nothing
location, end_location        {"row", "column"}, both from 1, columns in characters, the end exclusive; in a
                              notebook rows of the cell, and {"cell", "row", "column"}, cells of all kinds from 1
related                       the story in order: [{"message", "short", "filename", "location",
                              "end_location"}]; short: the same in a few words
help, url                     text or null
rests_on                      what it needs beside the code: [{"kind", "text"}]; kind: ordinary, called,
                              chosen, followed, guessed, tested
fixes                         [{"title", "effect", "applicability", "manual", "preferred", "edits"}], the best
                              first; effect: a sentence on what it costs or changes besides, or null;
                              applicability: safe or unsafe; manual: only the user's own choice applies it;
                              edits: [{"content", "filename", "location", "end_location"}], not overlapping
no_fix                        why there is none, where PyTorch raises and no fix is known to help, or null
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..source import Cell, Edit, Span, cell_at
from .diagnostic import NO_OFFER, Diagnostic, Fix, Offer


def as_json(
    diagnostic: Diagnostic, offer: Offer = NO_OFFER, cells: Sequence[Cell] = (), notebook: str | None = None
) -> dict[str, Any]:
    """One finding as plain data; ``cells`` are those of ``notebook``, the checked file, by default the one
    that it is in.
    """
    notebook = diagnostic.filename if notebook is None else notebook

    def where(span: Span, filename: str) -> dict[str, dict[str, int]]:
        return _where(span, cells if filename == notebook else ())

    return {
        "code": diagnostic.code,
        "name": diagnostic.name,
        "severity": diagnostic.severity.word,
        "message": diagnostic.message,
        "raises": diagnostic.raises,
        "filename": diagnostic.filename,
        **where(diagnostic.span, diagnostic.filename),
        "related": [
            {
                "message": link.message,
                "short": link.short,
                "filename": link.filename,
                **where(link.span, link.filename),
            }
            for link in diagnostic.related
        ],
        "help": diagnostic.help,
        "fixes": [
            {
                "title": fix.title,
                "effect": fix.effect or None,
                "applicability": "safe" if fix.applicability == "safe" else "unsafe",
                "manual": fix.applicability == "manual",
                "preferred": fix.preferred,
                "edits": [
                    {"content": edit.content, "filename": filename, **where(edit.span, filename)}
                    for filename, edit in _edits(fix, notebook)
                ],
            }
            for fix in offer.fixes
        ],
        "no_fix": offer.no_fix,
        "url": diagnostic.url,
        "rests_on": [{"kind": ground.kind, "text": ground.text} for ground in diagnostic.rests_on],
    }


def _edits(fix: Fix, checked: str) -> Iterator[tuple[str, Edit]]:
    """The edits of a fix, each with its file."""
    yield from ((checked, edit) for edit in fix.edits)
    yield from ((other.filename, edit) for other in fix.others for edit in other.edits)


def _where(span: Span, cells: Sequence[Cell]) -> dict[str, dict[str, int]]:
    cell = cell_at(cells, span.row)
    inside = {}
    if cell is not None:
        span, inside = cell.own(span), {"cell": cell.number}
    return {
        "location": {**inside, "row": span.row, "column": span.column},
        "end_location": {**inside, "row": span.end_row, "column": span.end_column},
    }
