"""``textDocument/inlayHint``: what the settings switch on is shown behind the lines it is about.

tapelint.inlayHints.story      1 saved by tanh, version 0
tapelint.inlayHints.tensors    grad_fn=TanhBackward0, version 0
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from lsprotocol import types

from .. import deferred, line_remarks
from ..analysis_result import AnalysisResult
from ..client_capabilities import ClientCapabilities
from ..settings import Shown
from ..stories import story_of

if TYPE_CHECKING:
    from ..server import Server


async def hints(ls: Server, params: types.InlayHintParams) -> list[types.InlayHint] | None:
    """The hints in a part of a document; None where no setting asks for any."""
    uri = params.text_document.uri
    shown = ls.session.settings_of(uri).shown
    if not shown & {Shown.STORY, Shown.TENSORS}:
        return None
    result = await ls.session.result(uri)
    row_offset = result.snapshot.row_offset(uri) if result is not None else None
    if result is None or row_offset is None:
        return None
    found = _of_stories(result, uri, row_offset, ls.client) if Shown.STORY in shown else []
    if Shown.TENSORS in shown:
        found += await _of_tensors(ls, result, uri)
    return [each for each in found if params.range.start.line <= each.position.line <= params.range.end.line]


def _of_stories(result: AnalysisResult, uri: str, row_offset: int, client: ClientCapabilities) -> list[types.InlayHint]:
    """The steps of all findings. Where there are several, a step says which finding it is of."""
    stories = [story_of(result, index, client) for index in range(len(result.subjects))]
    several = sum(bool(story.steps) for story in stories) > 1
    return [
        types.InlayHint(
            _end_of(step.place.range.start.line, result, row_offset, client),
            f"{story.finding.code} {step.number} {step.short}" if several else f"{step.number} {step.short}",
            tooltip=f"{story.finding.code} {story.finding.message}\n{step.number}. {step.message}",
            padding_left=True,
        )
        for story in stories
        for step in story.steps
        if unquote(step.place.uri) == unquote(uri)
    ]


async def _of_tensors(ls: Server, result: AnalysisResult, uri: str) -> list[types.InlayHint]:
    """What each assignment binds."""
    remarks = await line_remarks.of(ls.session, result, uri, ls.client, deferred.hover.assignments)
    return [types.InlayHint(area.end, text, padding_left=True) for area, text in remarks]


def _end_of(line: int, result: AnalysisResult, row_offset: int, client: ClientCapabilities) -> types.Position:
    """Behind the last character of a line of the document, which begins ``row_offset`` rows below the text."""
    row = line + row_offset + 1
    end = result.rows.position(row, len(result.rows.row(row)) + 1, client.encoding)
    return types.Position(line, end.character)
