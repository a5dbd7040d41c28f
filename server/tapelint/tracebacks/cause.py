"""The finding that predicts an exception: the file that was started is analysed, then those that it has called.

Where a frame of a traceback is on this machine: files are found by the end of their path, rows by their text.
"""

from __future__ import annotations

import enum
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePosixPath, PureWindowsPath

from ..analysis import Report
from ..frozen import frozen
from ..report import Diagnostic, Related
from ..rules import Rule, all_rules
from ..severity import Severity
from ..source import Source
from .traceback_text import Frame, Raised

Analyser = Callable[[str], Report | None]
"""Gives the report on the file at a path; None where it cannot be read."""


class Nearness(enum.IntEnum):
    """How well a finding fits a traceback."""

    # It predicts the exception at a line of the traceback.
    RAISES_THERE = 0
    # Its story passes through a line of the traceback.
    PASSES_THERE = 1
    # It says something else of a line of the traceback.
    BESIDE = 2
    # It predicts the same exception elsewhere in these files.
    ELSEWHERE = 3


@frozen
class Match:
    """A finding that may be the cause, and the report that has it."""

    diagnostic: Diagnostic
    report: Report
    nearness: Nearness


@frozen
class Place:
    """A row of a file here, that a traceback names. ``row`` counts through ``Source.text``; None where no row of the
    file has the text that the traceback shows.
    """

    path: str
    row: int | None
    frame: Frame


@frozen
class Explanation:
    """What is known of an exception. ``rules`` predict it; ``matches`` are the nearest findings of one nearness;
    ``reports`` are the analyses that were made, and ``frames`` the places of the traceback that are here, the
    innermost first.
    """

    raised: Raised
    rules: tuple[Rule, ...] = ()
    matches: tuple[Match, ...] = ()
    reports: tuple[Report, ...] = ()
    frames: tuple[Place, ...] = ()


def explained(raised: Raised, root: str, analyse: Analyser, within: str | None = None) -> Explanation:
    """What is known of an exception in the files below the folder ``root``, or in the one file ``within`` and those
    that it imports.
    """
    rules = rules_for(raised.message)
    started = [within] if within is not None else entries((*raised.frames, *raised.forward), root)
    reports: list[Report] = []
    best: list[Match] = []
    for path in started:
        report = analyse(path)
        if report is None:
            continue
        reports.append(report)
        places = dict(_rows(raised, root, report))
        best += _matches(report, raised, {rule.code for rule in rules}, places)
        if any(match.nearness <= Nearness.PASSES_THERE for match in best):
            break
    nearest = min((match.nearness for match in best), default=None)
    matches = tuple(match for match in _once(best) if match.nearness is nearest)
    return Explanation(raised, rules, matches, tuple(reports), tuple(_places(raised, root, reports)))


def the_one(found: Sequence[Raised]) -> Raised:
    """The exception to explain, of one or more: the last that a rule predicts, since launchers and tests add their own;
    else the last that has frames.
    """
    predicted = [raised for raised in found if rules_for(raised.message)]
    return [found[-1], *(raised for raised in found if raised.frames), *predicted][-1]


def rules_for(message: str) -> tuple[Rule, ...]:
    """The rules that predict a message of PyTorch."""
    plain = _plain(message)
    return tuple(rule for rule in all_rules() if any(_plain(text) in plain for text in rule.raises))


def at_line(report: Report, row: int) -> tuple[Match, ...]:
    """The findings at a row of the checked file: reported there, or raised there; else those whose story passes."""
    found = [
        Match(diagnostic, report, nearness)
        for diagnostic in (*report.diagnostics, *report.elsewhere)
        if (nearness := _nearness(diagnostic, {report.path: {row}})) is not Nearness.ELSEWHERE
    ]
    own = [Match(d, report, Nearness.RAISES_THERE) for d in report.diagnostics if d.span.row <= row <= d.span.end_row]
    nearest = min((match.nearness for match in (*own, *found)), default=None)
    return tuple(_once(match for match in (*own, *found) if match.nearness is nearest))


def _matches(report: Report, raised: Raised, codes: set[str], places: dict[str, set[int]]) -> Iterator[Match]:
    """The findings that fit: of a rule of ``codes``, which predict the message, or with its very words."""
    message = _plain(raised.message)
    for diagnostic in (*report.diagnostics, *report.elsewhere):
        nearness = _nearness(diagnostic, places)
        is_same = diagnostic.raises is not None and _plain(diagnostic.raises) in message
        if is_same or (diagnostic.code in codes and nearness is not Nearness.ELSEWHERE):
            yield Match(diagnostic, report, nearness)
        elif nearness is not Nearness.ELSEWHERE and diagnostic.severity <= Severity.WARNING:
            yield Match(diagnostic, report, Nearness.BESIDE)


def _nearness(diagnostic: Diagnostic, places: dict[str, set[int]]) -> Nearness:
    def is_there(at: Related | Diagnostic) -> bool:
        rows = places.get(os.path.abspath(at.filename), places.get(at.filename, set()))
        return any(at.span.row <= row <= at.span.end_row for row in rows)

    if is_there(diagnostic.raised_at or diagnostic):
        return Nearness.RAISES_THERE
    if is_there(diagnostic) or any(map(is_there, diagnostic.related)):
        return Nearness.PASSES_THERE
    return Nearness.ELSEWHERE


def _rows(raised: Raised, root: str, report: Report) -> Iterator[tuple[str, set[int]]]:
    """The rows that a traceback names of each file that a report is about, by absolute path."""
    for source in (report.source, *report.others.values()):
        path = os.path.abspath(source.path)
        frames = [frame for frame in raised.frames if _is_of(frame, path, root)]
        rows = {row for frame in frames if (row := row_of(frame, source)) is not None}
        if rows:
            yield path, rows


def _places(raised: Raised, root: str, reports: Sequence[Report]) -> Iterator[Place]:
    sources: dict[str, Source] = {}
    for report in reports:
        for source in (report.source, *report.others.values()):
            sources.setdefault(os.path.abspath(source.path), source)
    for frame in reversed(raised.frames):
        for path, source in sources.items():
            if _is_of(frame, path, root):
                yield Place(path, row_of(frame, source), frame)


def _is_of(frame: Frame, path: str, root: str) -> bool:
    """Whether a frame is in the file at ``path``; one of a notebook's cell is in every notebook."""
    if frame.path.endswith((".py", ".ipynb")) and "ipykernel" not in frame.path:
        return file_of(frame, root) == path
    return path.endswith(".ipynb")


def _once(matches: Iterable[Match]) -> Iterator[Match]:
    """Each finding once, though several files show it."""
    seen: set[tuple[str, str, object]] = set()
    for match in matches:
        found = match.diagnostic
        key = found.code, os.path.abspath(found.filename), found.span
        if key not in seen:
            seen.add(key)
            yield match


def _plain(text: str) -> str:
    """A text without the differences of quotation marks and spaces."""
    return " ".join(text.replace("’", "'").replace("‘", "'").split()).lower()


_INSTALLED = {"site-packages", "dist-packages"}


def file_of(frame: Frame, root: str) -> str | None:
    """The file of a frame: the one at its path, or the one below ``root`` whose path has the longest end in common,
    since programs run on other machines. None where there is none, and for installed packages and Python's own library.
    """
    path = PureWindowsPath(frame.path) if "\\" in frame.path else PurePosixPath(frame.path)
    parts = path.parts
    if _INSTALLED & set(parts) or frame.path.startswith("<") or not frame.path.endswith((".py", ".ipynb")):
        return None
    given = os.path.expanduser(frame.path)
    if os.path.isfile(given):
        own = os.path.abspath(given)
        return own if not _is_pythons(own) else None
    ends = (os.path.join(root, *parts[start:]) for start in range(1 if path.is_absolute() else 0, len(parts)))
    return next((os.path.abspath(end) for end in ends if os.path.isfile(end)), None)


def _is_pythons(path: str) -> bool:
    """Whether a file belongs to the Python that runs this."""
    return path.startswith(os.path.dirname(os.__file__) + os.sep)


def row_of(frame: Frame, source: Source) -> int | None:
    """The row of a frame in the file as it is now, in rows of ``source.text``: the one with the same text that is
    nearest to where it was. None where no row has it.
    """
    cell = _cell_rows(frame, source)
    rows = source.lines
    expected = cell[0] + frame.row - 1 if cell else frame.row
    if not frame.code:
        return expected if 1 <= expected <= len(rows) else None
    first, last = cell or (1, len(rows))
    same = [row for row in range(first, last + 1) if _is_same(rows[row - 1], frame.code)]
    return min(same, key=lambda row: abs(row - expected), default=None)


def _is_same(line: str, code: str) -> bool:
    """Whether a line has the code that a traceback shows; Python leaves out what is beside an expression nowhere, but
    IPython cuts long lines.
    """
    return "".join(line.split()) == "".join(code.split())


def _cell_rows(frame: Frame, source: Source) -> tuple[int, int] | None:
    """The rows of the cell that a frame of IPython is in, where only one cell has its code at its row."""
    if not source.cells or frame.path.endswith(".ipynb"):
        return None
    found = [
        (cell.first, cell.last)
        for cell in source.cells
        if cell.first + frame.row - 1 <= cell.last and _is_same(source.lines[cell.first + frame.row - 2], frame.code)
    ]
    return found[0] if len(found) == 1 else None


def entries(frames: Sequence[Frame], root: str) -> list[str]:
    """The files of a traceback that are here, each once, the one that was started first."""
    return list(dict.fromkeys(path for frame in frames if (path := file_of(frame, root)) is not None))
