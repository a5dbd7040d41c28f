"""The command ``tapelint.graph``: the picture of the graph of a finding, or of an expression.

    {"command": "tapelint.graph", "arguments": ["file:///home/me/train.py", {"line": 8, "character": 4}]}

The answer has the ``picture``, which is drawn as ``svg`` and listed as ``text`` too, or null and ``why`` there is none.
A node's ``place`` has the ``uri`` and the ``range``; in the drawing its number is ``data-node``.
"""

from __future__ import annotations

from typing import Any

from lsprotocol import types
from pygls.uris import from_fs_path

from .. import deferred
from ..session import Cursor
from ..worker import Priority, Token

COMMAND = "tapelint.graph"


async def graph(ls: Any, *arguments: Any) -> dict[str, Any]:
    """Draw what is at a position of a document as the editor holds it."""
    uri, here = _asked(arguments)
    at: Cursor | None = await ls.session.cursor(uri, here)
    if at is None or at.result.report is None:
        return _nothing("the document is not open, or is not checked")
    result, report = at.result, at.result.report

    def place(spot: Any) -> types.Location | None:
        """None for what is in a cell of a notebook: its cells are documents of the client's own."""
        if spot.path != report.source.path:
            point, target = types.Position(max(0, spot.row - 1), max(0, spot.column - 1)), from_fs_path(spot.path)
        elif report.source.cells:
            return None
        else:
            point, target = result.rows.position(spot.row, spot.column, ls.client.encoding), uri
        return types.Location(target or "", types.Range(point, point))

    def work() -> dict[str, Any]:
        try:
            drawn = deferred.picture.picture_at(report, at.row, at.column, lambda: token() or result.token())
        except deferred.picture.Nothing as reason:
            return _nothing(str(reason))
        drawing = "\n".join(deferred.svg.svg(drawn, report.source.path))
        listed = "\n".join(deferred.forms.text(drawn, report.source.path))
        data = deferred.forms.as_json(drawn, report.source.path, place)
        return {"picture": data, "svg": drawing, "text": listed, "why": None}

    token = Token()
    try:
        answer: dict[str, Any] = await ls.session.worker.submit(work, Priority.ANSWER, token).future
    except deferred.analysis.Cancelled:
        return _nothing("the text has changed meanwhile")
    finally:
        token.cancel()
    return answer


def _asked(arguments: tuple[Any, ...]) -> tuple[str, types.Position]:
    """The document and the position, of arguments that come as they are."""
    uri, given = (*arguments, "", None)[:2]
    if isinstance(given, dict):
        line, character = given.get("line", 0), given.get("character", 0)
    else:
        line, character = getattr(given, "line", 0), getattr(given, "character", 0)
    return str(uri or ""), types.Position(int(line), int(character))


def _nothing(why: str) -> dict[str, Any]:
    return {"picture": None, "svg": None, "text": None, "why": why}
