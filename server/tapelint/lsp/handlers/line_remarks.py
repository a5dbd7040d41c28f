"""What single lines are about, where a setting wants it to be shown: ``textDocument/codeLens`` above them,
``textDocument/inlayHint`` behind them. Computed when a client asks; it needs what hovers need, and shares it.

tapelint.codeLens.backward    frees the graph of 37 operations, fills .grad of 20 leaves
tapelint.codeLens.step        writes 20 parameters
tapelint.inlayHints.story     1 saved by tanh, version 0
tapelint.inlayHints.tensors   grad_fn=TanhBackward0, version 0
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING
from urllib.parse import unquote

from lsprotocol import types

from .. import deferred
from ..analysis_result import AnalysisResult
from ..client_capabilities import ClientCapabilities
from ..settings import Shown
from ..worker import Priority
from .story_request import story_of

if TYPE_CHECKING:
    from ...hover import Recording, Remark
    from ...source import Source
    from ..server import Server

About = Callable[["Recording", "Source"], Iterable["Remark"]]


async def placed_remarks(ls: Server, result: AnalysisResult, uri: str, *about: About) -> list[tuple[types.Range, str]]:
    """The places and texts in the client's document ``uri``; none once its text has changed."""
    if result.report is None:
        return []
    hovers = ls.session.hovers.get(result, result.report)
    remarks = await ls.session.answer(  # hovers go first: someone waits for those
        lambda: [remark for each in about for remark in hovers.remarks(each, result.token)],
        Priority.ANALYSIS,
        f"remarks on the lines of {uri}",
    )
    placed = [(result.snapshot.cell_of(remark.span), remark) for remark in remarks or () if not result.token()]
    return [
        (result.rows.range(remark.span, ls.client.encoding, row_offset), remark.text)
        for (owner, row_offset), remark in placed
        if unquote(owner) == unquote(uri)
    ]


LENS_OPTIONS = types.CodeLensOptions(resolve_provider=False)
ABOUT: dict[Shown, About] = {
    Shown.BACKWARD: lambda record, source: deferred.hover.backwards(record, source),
    Shown.STEP: lambda record, source: deferred.hover.steps(record, source),
}


async def lenses(ls: Server, params: types.CodeLensParams) -> list[types.CodeLens] | None:
    """The lenses of a document; None where no setting asks for any. They run nothing: their command has no name."""
    uri = params.text_document.uri
    shown = ls.settings.settings(uri).shown
    wanted = [about for setting, about in ABOUT.items() if setting in shown]
    result = await ls.session.result(uri) if wanted else None
    if result is None:
        return None
    remarks = await placed_remarks(ls, result, uri, *wanted)
    return [types.CodeLens(area, types.Command(text.replace("`", ""), "")) for area, text in remarks]


async def hints(ls: Server, params: types.InlayHintParams) -> list[types.InlayHint] | None:
    """The hints in a part of a document; None where no setting asks for any."""
    uri = params.text_document.uri
    shown = ls.settings.settings(uri).shown
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
    remarks = await placed_remarks(ls, result, uri, deferred.hover.assignments)
    return [types.InlayHint(area.end, text, padding_left=True) for area, text in remarks]


def _end_of(line: int, result: AnalysisResult, row_offset: int, client: ClientCapabilities) -> types.Position:
    """Behind the last character of a line of the document, which begins ``row_offset`` rows below the text."""
    row = line + row_offset + 1
    end = result.rows.position(row, len(result.rows.row(row)) + 1, client.encoding)
    return types.Position(line, end.character)
