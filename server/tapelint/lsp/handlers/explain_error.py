"""The command ``tapelint.explain``: from a traceback to the finding that predicts its error.

    {"command": "tapelint.explain", "arguments": ["Traceback ...", "file:///home/me/train.py"]}

The second argument is optional: the one file to look in, for a notebook or where only the message was copied. The
answer has the ``text`` to show, and the ``location`` of the finding, or where it has none of the line that raises: in a
file, or in a cell of a notebook that is open; null where that is not known. The ``page`` is the same in parts, for
clients that make links and buttons of them:

    {"error": "RuntimeError: ...", "raised": PLACE, "remarks": [TEXT], "findings": [{
        "code": "TL102", "name": ..., "severity": "error", "message": ..., "place": PLACE, "needs": ..., "help": ...,
        "steps": [{"message": ..., "place": PLACE}], "noFix": ...,
        "cures": [{"title": ..., "effect": ..., "command": COMMAND}]}]}

A place has the ``name`` for readers, the ``code`` of its line and the ``location``. The command of a cure makes it
(``fixes_elsewhere``); it is null in notebooks, whose lightbulbs have the cure.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path

from ...headline import capitalized
from ...report.diagnostic import Diagnostic, FileEdits, Fix, Offer
from ...report.in_cells import place_in_cells
from ...report.look import Look
from ...source import NOTEBOOK, Notebook, Source, SourceError, Span, notebook
from ...workspace import Resolver
from .. import deferred
from ..caches import Memories
from ..convert.positions import LineIndex
from ..documents import Snapshot
from ..foreign import analysed, never
from ..settings import Settings
from ..worker import Priority, Token
from . import fixes_elsewhere

if TYPE_CHECKING:
    from ... import analysis
    from ...tracebacks import Explanation
    from ..server import Server

COMMAND = "tapelint.explain"
_LOOK = Look(width=1 << 20, names_options=False)
"""Editors wrap lines themselves, and have no options."""


async def explain(ls: Any, *arguments: Any) -> dict[str, Any]:
    """Explain the error in a text; see ``about.information`` for why the server has no type here. Defaults of
    parameters are not known to pygls, so the arguments come as they are.
    """
    text, uri = (*map(str, filter(None, arguments)), "", "")[:2]
    raised = deferred.tracebacks.raised_in(text)
    if not raised:
        return {"text": "There is no traceback and no error message in this text.", "location": None, "page": None}
    resolver, settings_of, within = ls.session.resolver(), ls.settings.settings, to_fs_path(uri) if uri else None
    roots, books = resolver.roots or (os.getcwd(),), ls.session.notebooks()

    def work() -> tuple[Explanation, str, list[Offer], str]:
        analyse, tracebacks = _analyser(resolver, settings_of, books, ls.session.memories), deferred.tracebacks
        answers = [(tracebacks.explained(tracebacks.the_one(raised), root, analyse, within), root) for root in roots]
        best, root = min(answers, key=lambda answer: (not answer[0].matches, not answer[0].reports))
        offers = tracebacks.offered(best.matches)
        return best, root, offers, "\n".join(tracebacks.in_words(best, root, within, _LOOK, offers))

    with ls.long_work.over("tapelint", "explaining an error"):
        found, root, offers, words = await ls.session.worker.submit(work, Priority.ANSWER, Token()).future
    page = Page(ls, found, root, books)
    remarks = [*deferred.tracebacks.remarks(found, root, within, names_commands=False)]
    return {"text": words, "location": page.location, "page": page.content(remarks, offers)}


def _analyser(
    resolver: Resolver, settings_of: Callable[[str], Settings], books: Mapping[str, Snapshot], memories: Memories
) -> Callable[[str], analysis.Report | None]:
    """The analysis of a file as the editor holds it; None where it cannot be read. ``books`` are the open notebooks."""

    @cache
    def analyse(path: str) -> analysis.Report | None:
        text = resolver.text(path)
        if text is None:
            return None
        program: str | Notebook = text
        try:
            if path in books:
                program = Notebook(books[path].text, books[path].cells)
            elif path.endswith(NOTEBOOK):
                program = notebook(text)
        except SourceError:
            return None
        return analysed(program, path, settings_of(from_fs_path(path) or path), resolver, memories, never, users=None)

    return analyse


class Page:
    """An explanation for a user in the folder ``root``; ``books`` are the open notebooks."""

    def __init__(self, ls: Server, found: Explanation, root: str, books: Mapping[str, Snapshot]) -> None:
        self._ls, self._found, self._root, self._books = ls, found, root, books

    @property
    def location(self) -> types.Location | None:
        """Where to go: to the first finding, else to the innermost line of the traceback that is here."""
        for match in self._found.matches:
            return self._location(_sources(match.report)[match.diagnostic.filename], match.diagnostic.span)
        at = deferred.tracebacks.place_of_raise(self._found)
        return self._location(at[0], Span(at[1], 1, at[1], 1)) if at is not None else None

    def content(self, remarks: list[str], offers: list[Offer]) -> dict[str, Any]:
        """The parts of the page."""
        at, findings = deferred.tracebacks.place_of_raise(self._found), zip(self._found.matches, offers, strict=True)
        return {
            "error": deferred.tracebacks.error(self._found),
            "raised": self._place(at[0], Span(at[1], 1, at[1], 1)) if at is not None else None,
            "remarks": remarks,
            "findings": [self._finding(match.report, match.diagnostic, offer) for match, offer in findings],
        }

    def _finding(self, report: analysis.Report, found: Diagnostic, offer: Offer) -> dict[str, Any]:
        sources = _sources(report)
        steps = [
            *found.related,
            *(replace(end, message=capitalized(end.short)) for end in found.steps[len(found.related) :]),
        ]
        return {
            "code": found.code,
            "name": found.name,
            "severity": found.severity.word,
            "message": found.message,
            "place": self._place(sources[found.filename], found.span),
            "needs": found.needs,
            "help": found.help,
            "steps": [
                {"message": step.message, "place": self._place(sources[step.filename], step.span)}
                for step in steps
                if step.filename in sources
            ],
            "noFix": offer.no_fix,
            "cures": [self._cure(report, fix) for fix in sorted(offer.fixes, key=lambda fix: not fix.preferred)],
        }

    def _cure(self, report: analysis.Report, fix: Fix) -> dict[str, Any]:
        own = (FileEdits(report.path, report.source.text, fix.edits),) if fix.edits else ()
        command = None if own and report.source.cells else fixes_elsewhere.making(self._ls, fix.title, own + fix.others)
        return {"title": fix.title, "effect": fix.effect, "command": command}

    def _place(self, source: Source, span: Span) -> dict[str, Any]:
        name, own = place_in_cells(source, span)
        code = source.lines[span.row - 1].strip() if span.row <= len(source.lines) else ""
        at = f"{deferred.tracebacks.shown(name, self._root)}:{own.row}"
        return {"name": at, "code": code, "location": self._location(source, span)}

    def _location(self, source: Source, span: Span) -> types.Location | None:
        """A place of a file, or of a cell of a notebook that is open. The cells of another one are documents that the
        client does not have yet: it goes to none of them.
        """
        book = self._books.get(os.path.abspath(source.path))
        if source.cells and book is None:
            return None
        uri, row_offset = book.cell_of(span) if book is not None else (from_fs_path(source.path), 0)
        return types.Location(uri or "", LineIndex(source.text).range(span, self._ls.client.encoding, row_offset))


def _sources(report: analysis.Report) -> dict[str, Source]:
    """The files of a report, by the names that they have in findings."""
    return {**report.others, report.path: report.source}
