"""The story of the finding at the cursor: as document highlights, and as data by the command ``tapelint.story``.

    {"command": "tapelint.story", "arguments": ["file:///home/me/train.py", {"line": 41, "character": 8}]}

    code, name, severity (1: error), message, uri, range    the finding, where it is reported
    steps   [{number, uri, range, short, message}]          in the order of events, in any file; a step of several rows
                                                            is shown in the first of them

The answer is null where the cursor is in no finding: neither at one, nor in a line at which PyTorch raises, nor on a
step of one.

The stories of findings as editors show them in the text: numbered steps, each at its place.

h = torch.tanh(x @ w)      1 saved by tanh, version 0
h += 1                     2 written, version 1
h.sum().backward()         3 needs version 0: raises
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import unquote

from lsprotocol import types

from ...frozen import frozen
from ...report.diagnostic import Diagnostic
from ...source import Span
from ..analysis_result import AnalysisResult
from ..client_capabilities import ClientCapabilities
from ..convert.diagnostics import Translator


@frozen
class Step:
    """What happened at ``place``, in few words and in a sentence; ``number`` counts from 1. Editors draw the few words
    as they are, so that there are no backticks in them.
    """

    number: int
    place: types.Location
    short: str
    message: str


@frozen
class Story:
    """A finding, where it is reported, and its steps in the order of events."""

    finding: Diagnostic
    place: types.Location
    steps: tuple[Step, ...]


def story_of(result: AnalysisResult, index: int, client: ClientCapabilities) -> Story:
    """The story of subject ``index``."""
    finding = result.subjects[index].finding
    translator = Translator(result.snapshot, result.rows, client, result.sources(index))
    steps = (
        Step(number, translator.head(each), each.short.replace("`", ""), each.message)
        for number, each in enumerate(finding.steps, 1)
    )
    return Story(finding, translator.location(finding.filename, finding.span), tuple(steps))


def story_at(
    result: AnalysisResult, others: Iterable[AnalysisResult], row: int, column: int, client: ClientCapabilities
) -> Story | None:
    """The story that a cursor in the document of ``result`` is in: of the finding under it, else of one in its row,
    else of one that PyTorch raises in that row, else of one that has a step there, maybe one that ``others`` have.
    """
    path = result.snapshot.path
    found = [
        (rank, _size(span), order, index, each)
        for order, each in enumerate([result, *(other for other in others if other is not result)])
        for index, subject in enumerate(each.subjects)
        for rank, span in _places(subject.finding, path, row, column)
    ]
    if not found:
        return None
    *_, index, owner = min(found, key=lambda entry: entry[:4])
    return story_of(owner, index, client)


def _places(finding: Diagnostic, path: str, row: int, column: int) -> Iterator[tuple[int, Span]]:
    """The spans by which a cursor in the file at ``path`` is in a finding, each with how well it says so: 0 is best."""
    at = finding.raised_at
    if finding.filename == path and finding.span.holds(row, column):
        yield 0, finding.span
    if finding.filename == path and finding.span.row == row:
        yield 1, finding.span
    if at is not None and at.filename == path and at.span.row == row:
        yield 2, at.span
    for step in finding.steps:
        if step.filename == path and step.span.row == row and step.span.holds(row, column):
            yield 3, step.span


def _size(span: Span) -> tuple[int, int]:
    return span.end_row - span.row, span.end_column - span.column


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
