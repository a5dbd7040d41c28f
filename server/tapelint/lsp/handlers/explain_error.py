"""The command ``tapelint.explain``: from a traceback to the finding that predicts its error.

    {"command": "tapelint.explain", "arguments": ["Traceback ...", "file:///home/me/train.py"]}

The second argument is optional: the one file to look in, for a notebook or where only the message was copied. The
answer has the ``text`` to show, and the ``location`` of the finding, or where it has none of the line that raises: in a
file, or in a cell of a notebook that is open; null where that is not known.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path

from ...source import NOTEBOOK, Notebook, Source, SourceError, Span, notebook
from ...workspace import Resolver
from .. import deferred
from ..caches import Memories
from ..client_capabilities import ClientCapabilities
from ..convert.positions import LineIndex
from ..documents import Snapshot
from ..foreign import analysed, never
from ..settings import Settings
from ..worker import Priority, Token

if TYPE_CHECKING:
    from ... import analysis
    from ...tracebacks import Explanation

COMMAND = "tapelint.explain"


async def explain(ls: Any, *arguments: Any) -> dict[str, Any]:
    """Explain the error in a text; see ``about.information`` for why the server has no type here. Defaults of
    parameters are not known to pygls, so the arguments come as they are.
    """
    text, uri = (*map(str, filter(None, arguments)), "", "")[:2]
    raised = deferred.tracebacks.raised_in(text)
    if not raised:
        return {"text": "There is no traceback and no error message in this text.", "location": None}
    resolver, settings_of, within = ls.session.resolver(), ls.settings.settings, to_fs_path(uri) if uri else None
    roots, books = resolver.roots or (os.getcwd(),), ls.session.notebooks()

    def work() -> dict[str, Any]:
        analyse, tracebacks = _analyser(resolver, settings_of, books, ls.session.memories), deferred.tracebacks
        answers = [(tracebacks.explained(tracebacks.the_one(raised), root, analyse, within), root) for root in roots]
        best, root = min(answers, key=lambda answer: (not answer[0].matches, not answer[0].reports))
        words = tracebacks.in_words(best, root, within, in_editor=True)
        return {"text": "\n".join(words), "location": _location(best, ls.client, books)}

    with ls.long_work.over("tapelint", "explaining an error"):
        answer: dict[str, Any] = await ls.session.worker.submit(work, Priority.ANSWER, Token()).future
    return answer


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


def _location(found: Explanation, client: ClientCapabilities, books: Mapping[str, Snapshot]) -> types.Location | None:
    """Where to go: to the first finding, else to the innermost line of the traceback that is here."""
    for match in found.matches:
        sources = {**match.report.others, match.report.path: match.report.source}
        source = sources[match.diagnostic.filename]
        return _as_location(source, match.diagnostic.span, client, books.get(source.path))
    sources = {s.path: s for report in found.reports for s in (*report.others.values(), report.source)}
    for place in found.frames:
        if place.row is not None and place.path in sources:
            span = Span(place.row, 1, place.row, 1)
            return _as_location(sources[place.path], span, client, books.get(place.path))
    return None


def _as_location(
    source: Source, span: Span, client: ClientCapabilities, book: Snapshot | None
) -> types.Location | None:
    """A place of a file, or of a cell of the notebook that is open as ``book``. The cells of another one are documents
    that the client does not have yet: it goes to none of them.
    """
    if source.cells and book is None:
        return None
    uri, row_offset = book.cell_of(span) if book is not None else (from_fs_path(source.path), 0)
    return types.Location(uri or "", LineIndex(source.text).range(span, client.encoding, row_offset))
