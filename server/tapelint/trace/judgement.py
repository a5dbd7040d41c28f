"""The last part of a trace: what is reported and what it rests on, and what was found and is not reported.

findings
   6 | y += 1
     > not reported: TL201, it needs more than one choice (`flags["a"]` is true and `flags["b"]` is true)
"""

from __future__ import annotations

import ast

from ..analysis.locations import Files
from ..analysis.rule_listener import Noted
from ..rules import Finding
from ..source import Source
from ..workspace.config import Config
from .passages import Binding, Passage


def judged_passages(files: Files, noted: Noted, config: Config) -> list[Passage]:
    """A passage for each place of the traced file at which something was found, in the order of the file."""
    notes: dict[ast.AST, dict[str | Binding, None]] = {}
    for finding in noted.findings.values():
        if (place := files.place_in_main(finding)) is not None:
            notes.setdefault(place, {})[_reported(files, finding, config)] = None
    for untold in noted.untold:
        if (place := files.place_in_main(untold.finding)) is not None:
            notes.setdefault(place, {})[f"not reported: {untold.finding.code}, {untold.why}"] = None
    passages = [_passage(files.main, place, list(found)) for place, found in notes.items()]
    return sorted(passages, key=lambda passage: passage.first)


def _reported(files: Files, finding: Finding, config: Config) -> str:
    """How a finding that is told is reported, unless the user does not want it."""
    diagnostic = files.diagnostic(finding)
    if diagnostic is None:
        return f"not reported: {finding.code}, a comment silences it"
    severity = config.grade(finding.code, finding.severity, diagnostic.filename)
    if severity is None:
        return f"not reported: {finding.code}, the settings leave it out"
    rests_on = "; ".join(ground.text for ground in diagnostic.rests_on)
    return f"reported: {finding.code} {severity.word}{f'; it rests on: {rests_on}' if rests_on else ''}"


def _passage(source: Source, place: ast.AST, notes: list[str | Binding]) -> Passage:
    """The row at which something was found, with what is said of it."""
    span = source.span(place)
    text = source.lines[span.row - 1].rstrip() if span.row <= len(source.lines) else ""
    return Passage("findings", "", span.row, span.row, text, (), notes=notes)
