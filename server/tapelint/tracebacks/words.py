"""What there is to say of an exception or a line, as text for a terminal or a read-only document."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

from .. import analysis
from ..analysis import Report
from ..analysis.blocks import shown_in_cells
from ..analysis.execution import Inputs
from ..report.full import full
from ..report.in_cells import place_in_cells
from ..report.look import PLAIN, Look, printable
from ..rules import Rule
from ..source import Span
from ..trace import FINDINGS, trace
from .cause import Explanation, Match, Nearness

_ASIDE = {
    Nearness.BESIDE: "What is found at the lines of the traceback",
    Nearness.ELSEWHERE: "Nothing is found at the lines of the traceback; the same error is predicted here",
}
"""What goes before findings that are not those of the traceback's lines and error."""
TERMINAL_WAY = "run `tapelint explain` in the folder of the program, or name the file: `tapelint explain FILE`."
EDITOR_WAY = "open the folder of the program, or go to its file, and explain the error again."
SEEN = 12
"""So many lines of a trace are printed where nothing is found."""


def shown(path: str, root: str) -> str:
    """A path as a user in the folder ``root`` would write it."""
    relative = os.path.relpath(path, root)
    return path if relative.startswith(os.pardir) else relative


def in_words(
    found: Explanation, root: str, within: str | None = None, look: Look = PLAIN, in_editor: bool = False
) -> Iterator[str]:
    """All there is to say of an exception to a user in the folder ``root``, who has named the file ``within``. One who
    is ``in_editor`` is sent to no command line.
    """
    look = replace(look, folder=root)
    yield from (_heading(found, root), "")
    nearest = found.matches[0].nearness if found.matches else None
    if nearest in (Nearness.RAISES_THERE, Nearness.PASSES_THERE):
        yield from findings(found.matches, look)
        return
    if found.rules:
        yield from ("PyTorch raises it where", *(_meaning(rule, in_editor) for rule in found.rules), "")
    else:
        yield from ("No rule of tapelint predicts this message.", "")
    if nearest is not None:
        yield f"{_ASIDE[nearest]}:"
        yield ""
        yield from findings(found.matches, look)
    elif not found.reports:
        yield (
            f"No file of the traceback is below {root}: {EDITOR_WAY if in_editor else TERMINAL_WAY}"
            if within is None
            else f"{shown(within, root)} could not be analysed."
        )
    else:
        yield "tapelint does not see the cause in this program."
        yield from _unseen(found, root, in_editor)


def _heading(found: Explanation, root: str) -> str:
    """The error, and where it was raised; a row of a notebook is one of its cell."""
    raised = found.raised
    words = printable(f"{raised.kind}: {raised.message}" if raised.kind else raised.message)
    at = next((place for place in found.frames if place.row is not None), None)
    if at is None or at.row is None:
        return words
    sources = {each.path: each for report in found.reports for each in (*report.others.values(), report.source)}
    name, row = at.path, at.row
    if at.path in sources:
        name, span = place_in_cells(sources[at.path], Span(row, 1, row, 1))
        row = span.row
    return f"{words}\nraised at {shown(name, root)}:{row}"


def _meaning(rule: Rule, in_editor: bool) -> str:
    return f"  - {rule.summary} ({rule.code if in_editor else f'`tapelint rule {rule.code}`'})"


def _unseen(found: Explanation, root: str, in_editor: bool) -> Iterator[str]:
    """What was not followed of the files, and what was seen at the line that raises."""
    for report in found.reports:
        yield from (f"  {notice.failure}" for notice in report.notices)
    for place in found.frames:
        if place.row is None:
            yield f"  {shown(place.path, root)}: no line is `{place.frame.code}` any more; the file was changed"
            continue
        for report in found.reports:
            if os.path.abspath(report.path) == place.path:
                yield from seen(report, place.row, root, in_editor)
                return


def seen(report: Report, line: int, root: str | None = None, in_editor: bool = False) -> Iterator[str]:
    """What was executed of a line, and what was found there and is not reported, for a user in the folder ``root``."""
    inputs = Inputs(report.inputs.config, report.inputs.resolve)
    lines = [*trace(report.source, inputs, line)]
    end = lines.index(FINDINGS) if FINDINGS in lines else len(lines)
    place = f"{shown(report.path, root) if root is not None else report.path}:{line}"
    yield f"What was seen of {place}:" if in_editor else f"What was seen of {place} (`tapelint trace {place}`):"
    yield from (f"  {text}" for text in lines[: min(end, SEEN)])
    if end > SEEN:
        yield "  ..."
    yield from (f"  {text}" for text in lines[end:])


def findings(matches: Sequence[Match], look: Look = PLAIN) -> Iterator[str]:
    """Each finding with its story and its cure."""
    for match in matches:
        yield full(shown_in_cells(match.report, match.diagnostic, analysis.offer(match.report, match.diagnostic)), look)
