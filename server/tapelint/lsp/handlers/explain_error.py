"""The command ``tapelint.explain``: from a traceback to the finding that predicts its error.

    {"command": "tapelint.explain", "arguments": ["Traceback ...", "file:///home/me/train.py"]}

The second argument is optional: the one file to look in, for a notebook or where only the message was copied. The
answer has the ``text`` to show, and the ``location`` of the finding, or where it has none of the line that raises;
null where that is not known.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from pygls.uris import from_fs_path, to_fs_path

from ...source import NOTEBOOK, Source, SourceError, Span, notebook
from ...workspace import Resolver
from .. import deferred
from ..client_capabilities import ClientCapabilities
from ..convert.positions import LineIndex
from ..foreign import config_for
from ..settings import Settings
from ..worker import Priority, Token

if TYPE_CHECKING:
    from ... import analysis
    from ...tracebacks import Explanation

COMMAND = "tapelint.explain"


async def explain(ls: Any, *arguments: Any) -> dict[str, Any]:
    """Explain the error in a text; see ``debug_information`` for why the server has no type here. Defaults of
    parameters are not known to pygls, so the arguments come as they are.
    """
    text, uri = (*map(str, filter(None, arguments)), "", "")[:2]
    raised = deferred.tracebacks.raised_in(text)
    if not raised:
        return {"text": "There is no traceback and no error message in this text.", "location": None}
    resolver, settings_of, within = ls.session.resolver(), ls.session.settings_of, to_fs_path(uri) if uri else None
    roots = resolver.roots or (os.getcwd(),)

    def work() -> dict[str, Any]:
        analyse, tracebacks = _analyser(resolver, settings_of), deferred.tracebacks
        answers = [(tracebacks.explained(tracebacks.the_one(raised), root, analyse, within), root) for root in roots]
        best, root = min(answers, key=lambda answer: (not answer[0].matches, not answer[0].reports))
        words = tracebacks.in_words(best, root, within, in_editor=True)
        return {"text": "\n".join(words), "location": _location(best, ls.client)}

    with ls.long_work.over("tapelint", "explaining an error"):
        answer: dict[str, Any] = await ls.session.worker.submit(work, Priority.ANSWER, Token()).future
    return answer


def _analyser(resolver: Resolver, settings_of: Callable[[str], Settings]) -> Callable[[str], analysis.Report | None]:
    """The analysis of a file as the editor holds it; None where it cannot be read."""

    @cache
    def analyse(path: str) -> analysis.Report | None:
        text, settings = resolver.text(path), settings_of(from_fs_path(path) or path)
        if text is None:
            return None
        try:
            program = notebook(text) if path.endswith(NOTEBOOK) else text
        except SourceError:
            return None
        config_of = config_for(settings, resolver, path)
        return deferred.analysis.analyse(program, path, settings.config(path)[0], resolve=resolver, config_of=config_of)

    return analyse


def _location(found: Explanation, client: ClientCapabilities) -> dict[str, Any] | None:
    """Where to go: to the first finding, else to the innermost line of the traceback that is here. A notebook's cells
    are documents of the client's own: it goes to none of them.
    """
    for match in found.matches:
        sources = {**match.report.others, match.report.path: match.report.source}
        return _as_location(sources[match.diagnostic.filename], match.diagnostic.span, client)
    sources = {s.path: s for report in found.reports for s in (*report.others.values(), report.source)}
    for place in found.frames:
        if place.row is not None and place.path in sources:
            return _as_location(sources[place.path], Span(place.row, 1, place.row, 1), client)
    return None


def _as_location(source: Source, span: Span, client: ClientCapabilities) -> dict[str, Any] | None:
    if source.cells:
        return None
    found = LineIndex(source.text).range(span, client.encoding)
    ends = {"start": found.start, "end": found.end}
    places = {name: {"line": end.line, "character": end.character} for name, end in ends.items()}
    return {"uri": from_fs_path(source.path), "range": places}
