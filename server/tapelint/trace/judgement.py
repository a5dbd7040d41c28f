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

FINDINGS = "findings"
"""The line that this part begins with."""


def judged_passages(files: Files, noted: Noted, config: Config, line: int | None) -> list[Passage]:
    """A passage for each place of the traced file at which something was found, in the order of the file; of what is
    found elsewhere, but raises in the ``line`` that is traced, one there.
    """
    judged = [(finding, *_told(files, finding, config)) for finding in noted.findings.values()]
    judged += [(untold.finding, False, f"{untold.finding.code}, {untold.why}") for untold in noted.untold]
    notes: dict[ast.AST, dict[str | Binding, None]] = {}
    for finding, is_told, text in judged:
        place, raiser = files.place_in_main(finding), finding.raiser
        verdict = "reported" if is_told else "not reported"
        if place is not None:
            notes.setdefault(place, {})[f"{verdict}: {text}"] = None
            at = files.main.span(place).row
            if raiser is not None and files.main.holds(raiser) and at != line == files.main.span(raiser).row:
                notes.setdefault(raiser, {})[f"{verdict} in line {at}: {text}"] = None
    passages = [_passage(files.main, place, list(found)) for place, found in notes.items()]
    return sorted(passages, key=lambda passage: passage.first)


def _told(files: Files, finding: Finding, config: Config) -> tuple[bool, str]:
    """Whether a finding that is told is reported to the user, and how or why not."""
    diagnostic = files.diagnostic(finding)
    if diagnostic is None:
        return False, f"{finding.code}, a comment silences it"
    severity = config.grade(finding.code, finding.severity, diagnostic.filename)
    if severity is None:
        return False, f"{finding.code}, the settings leave it out"
    rests_on = "; ".join(ground.text for ground in diagnostic.rests_on)
    return True, f"{finding.code} {severity.word}{f'; it rests on: {rests_on}' if rests_on else ''}"


def _passage(source: Source, place: ast.AST, notes: list[str | Binding]) -> Passage:
    """The row at which something was found, with what is said of it."""
    span = source.span(place)
    text = source.lines[span.row - 1].rstrip() if span.row <= len(source.lines) else ""
    return Passage(FINDINGS, "", span.row, span.row, text, (), notes=notes)
