"""What there is to say of an exception or a line, as text for a terminal or a read-only document."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from .. import analysis
from ..analysis import Report
from ..analysis.blocks import shown_in_cells
from ..analysis.execution import Inputs
from ..report.diagnostic import Offer
from ..report.full import full
from ..report.in_cells import place_in_cells
from ..report.look import PLAIN, Look, printable
from ..rules import Rule
from ..source import Source, Span
from ..trace import FINDINGS, trace
from .cause import Explanation, Match, Nearness

_ASIDE = {
    Nearness.BESIDE: "What is found at the lines of the traceback",
    Nearness.ELSEWHERE: "Nothing is found at the lines of the traceback; the same error is predicted here",
}
"""What goes before findings that are not those of the traceback's lines and error."""
TERMINAL_WAY = "run `tapelint explain` in the folder of the program, or name the file: `tapelint explain FILE`."
EDITOR_WAY = "open the folder of the program, or go to its file, and explain the error again."
NO_RULE = "No rule of tapelint predicts this message."
SEEN = 12
"""So many lines of a trace are printed where nothing is found."""


def shown(path: str, root: str) -> str:
    """A path as a user in the folder ``root`` would write it."""
    relative = os.path.relpath(path, root)
    return path if relative.startswith(os.pardir) else relative


def in_words(
    found: Explanation,
    root: str,
    within: str | None = None,
    look: Look = PLAIN,
    offers: Sequence[Offer] | None = None,
) -> Iterator[str]:
    """All there is to say of an exception to a user in the folder ``root``, who has named the file ``within``, with
    what is offered for each match, if that is known already.
    """
    look = replace(look, folder=root)
    at, row = raised_at(found)
    yield f"{error(found)}\nraised at {shown(at, root)}:{row}" if row else error(found)
    for remark in remarks(found, root, within, look.names_options):
        yield from ("", remark)
    if found.matches:
        yield ""
        yield from findings(found.matches, look, offers)


def error(found: Explanation) -> str:
    """What PyTorch says."""
    raised = found.raised
    return printable(f"{raised.kind}: {raised.message}" if raised.kind else raised.message)


def raised_at(found: Explanation) -> tuple[str, int]:
    """The file, or the cell of a notebook, and the row in which it was raised; the row is 0 where that is not known."""
    at = place_of_raise(found)
    if at is None:
        return "", 0
    source, row = at
    name, span = place_in_cells(source, Span(row, 1, row, 1))
    return name, span.row


def place_of_raise(found: Explanation) -> tuple[Source, int] | None:
    """The innermost line of the traceback that is here, as a row of its file."""
    known = [each for report in found.reports for each in (*report.others.values(), report.source)]
    sources = {os.path.abspath(each.path): each for each in known}
    places = ((place.row, sources.get(place.path)) for place in found.frames)
    return next(((source, row) for row, source in places if row is not None and source is not None), None)


def remarks(found: Explanation, root: str, within: str | None = None, names_commands: bool = True) -> Iterator[str]:
    """What is said besides the error and the findings: nothing where these are at the lines of the traceback."""
    nearest = found.matches[0].nearness if found.matches else None
    if nearest in (Nearness.RAISES_THERE, Nearness.PASSES_THERE):
        return
    meanings = (_meaning(rule, names_commands) for rule in found.rules)
    yield "\n".join(("PyTorch raises it where", *meanings) if found.rules else (NO_RULE,))
    if nearest is not None:
        yield f"{_ASIDE[nearest]}:"
    elif not found.reports:
        yield (
            f"No file of the traceback is below {root}: {TERMINAL_WAY if names_commands else EDITOR_WAY}"
            if within is None
            else f"{shown(within, root)} could not be analysed."
        )
    else:
        unseen = _unseen(found, root, names_commands)
        yield "\n".join(("tapelint does not see the cause in this program.", *unseen))


def _meaning(rule: Rule, names_commands: bool) -> str:
    return f"  - {rule.summary} ({f'`tapelint rule {rule.code}`' if names_commands else rule.code})"


def _unseen(found: Explanation, root: str, names_commands: bool) -> Iterator[str]:
    """What was not followed of the files, and what was seen at the line that raises."""
    for report in found.reports:
        yield from (f"  {notice.failure}" for notice in report.notices)
    for place in found.frames:
        if place.row is None:
            yield f"  {shown(place.path, root)}: no line is `{place.frame.code}` any more; the file was changed"
            continue
        for report in found.reports:
            if os.path.abspath(report.path) == place.path:
                yield from seen(report, place.row, root, names_commands)
                return


def seen(report: Report, line: int, root: str | None = None, names_commands: bool = True) -> Iterator[str]:
    """What was executed of a line, and what was found there and is not reported, for a user in the folder ``root``."""
    inputs = Inputs(report.inputs.config, report.inputs.resolve)
    lines = [*trace(report.source, inputs, line)]
    end = lines.index(FINDINGS) if FINDINGS in lines else len(lines)
    place = f"{shown(report.path, root) if root is not None else report.path}:{line}"
    yield f"What was seen of {place} (`tapelint trace {place}`):" if names_commands else f"What was seen of {place}:"
    yield from (f"  {text}" for text in lines[: min(end, SEEN)])
    if end > SEEN:
        yield "  ..."
    yield from (f"  {text}" for text in lines[end:])


def findings(matches: Sequence[Match], look: Look = PLAIN, offers: Sequence[Offer] | None = None) -> Iterator[str]:
    """Each finding with its story and its cure."""
    for match, offer in zip(matches, offers or offered(matches), strict=True):
        yield full(shown_in_cells(match.report, match.diagnostic, offer), look)


def offered(matches: Iterable[Match]) -> list[Offer]:
    """The fixes of each finding."""
    return [analysis.offer(match.report, match.diagnostic) for match in matches]
