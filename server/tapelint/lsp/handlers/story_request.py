"""The story of the finding at the cursor: as document highlights, and as data by the command ``tapelint.story``.

    {"command": "tapelint.story", "arguments": ["file:///home/me/train.py", {"line": 41, "character": 8}]}

    code, name, severity (1: error), message, uri, range    the finding, where it is reported
    steps   [{number, uri, range, short, message}]          in the order of events, in any file; a step of several rows
                                                            is shown in the first of them

The answer is null where the cursor is in no finding: neither at one, nor in a line at which PyTorch raises, nor on a
step of one.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from lsprotocol import types

from ..stories import Story, story_at

COMMAND = "tapelint.story"


async def highlights(ls: Any, params: types.DocumentHighlightParams) -> list[types.DocumentHighlight] | None:
    """The steps that are in the document itself."""
    uri = params.text_document.uri
    found = await _story(ls, uri, params.position)
    if found is None:
        return None
    here = (step.place.range for step in found.steps if unquote(step.place.uri) == unquote(uri))
    return [types.DocumentHighlight(area, types.DocumentHighlightKind.Text) for area in here]


async def story(ls: Any, *arguments: Any) -> dict[str, Any] | None:
    """The finding and its steps; ``arguments`` are a document and a position in it. See ``about.information`` for why
    the server has no type here.
    """
    match arguments:
        case [str(uri), {"line": int(line), "character": int(character)}, *_]:
            found = await _story(ls, uri, types.Position(line, character))
            return None if found is None else _as_data(found)
    return None


async def _story(ls: Any, uri: str, position: types.Position) -> Story | None:
    at = await ls.session.cursor(uri, position)
    return at and story_at(at.result, ls.session.results(), at.row, at.column, ls.client)


def _as_data(story: Story) -> dict[str, Any]:
    finding = story.finding
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": int(finding.severity),
        "message": finding.message,
        "uri": story.place.uri,
        "range": story.place.range,
        "steps": [
            {
                "number": step.number,
                "uri": step.place.uri,
                "range": step.place.range,
                "short": step.short,
                "message": step.message,
            }
            for step in story.steps
        ],
    }
