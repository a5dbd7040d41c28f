"""The command ``tapelint.coverage``: which calls of ``backward`` in an open document were followed, and why the others
were not.

    {"command": "tapelint.coverage", "arguments": ["file:///home/me/train.py", false]}

The second argument is optional: without the causes nothing is executed. The answer has a ``sentence``, a ``text`` in
Markdown, how many ``findings`` there are and in how many ``seconds``, the ``notices``, and the ``calls``, each with
its ``code``, ``location``, ``following`` and ``cause`` (``message``, ``location``, ``help``); null where the document
is not open. Cells of notebooks are documents of the client's own: calls and causes there have no location.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.uris import from_fs_path

from ...source import Span
from .. import deferred
from ..analysis_result import AnalysisResult
from ..client_capabilities import ClientCapabilities
from ..worker import Priority, Token

if TYPE_CHECKING:
    from ...coverage import BackwardCall, Coverage

COMMAND = "tapelint.coverage"


async def coverage_of(ls: Any, *arguments: Any) -> dict[str, Any] | None:
    """What was followed of a document; see ``about.information`` for why the server has no type here."""
    uri, with_causes = (*arguments, True)[:2] if arguments else ("", True)
    result: AnalysisResult | None = await ls.session.result(str(uri))
    if result is None or result.report is None:
        return None
    report, token = result.report, Token()

    def work() -> Coverage:
        return deferred.coverage.explained(report, token) if with_causes else deferred.coverage.coverage(report)

    with ls.long_work.over("tapelint", "looking for what was not followed"):
        return _answer(result, await ls.session.worker.submit(work, Priority.ANSWER, token).future, ls.client)


def _answer(result: AnalysisResult, found: Coverage, client: ClientCapabilities) -> dict[str, Any]:
    rows, is_notebook = result.rows, bool(result.report and result.report.source.cells)
    uri = from_fs_path(result.snapshot.file or "") or result.snapshot.uri

    def location(path: str, span: Span) -> types.Location | None:
        is_here = not is_notebook and path == result.snapshot.path
        return types.Location(uri, rows.range(span, client.encoding)) if is_here else None

    def call(each: BackwardCall) -> dict[str, Any]:
        cause = None
        if each.cause is not None:
            at = each.cause.at
            where = location(at.filename, at.span) if at is not None else None
            cause = {"message": each.cause.message, "location": where, "help": each.cause.help}
        place = location(result.snapshot.path, each.span)
        return {"code": each.code, "location": place, "following": each.following.value, "cause": cause}

    return {
        "sentence": found.sentence,
        "text": "\n".join(_lines(found)),
        "findings": len(result.findings),
        "seconds": round(result.duration, 3),
        "notices": [notice.message for notice in result.notices],
        "calls": [call(each) for each in found.calls],
    }


def _lines(found: Coverage) -> list[str]:
    """The answer as Markdown."""
    lines = [f"# {found.sentence or 'Nothing goes backward here'}", ""]
    for call in found.calls:
        cause = f": {call.cause.message}. {call.cause.help}" if call.cause is not None else ""
        lines.append(f"- line {call.span.row}: `{call.code}` {call.following.value}{cause}")
    return lines
