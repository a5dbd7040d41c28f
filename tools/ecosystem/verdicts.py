"""tests/ecosystem/findings: what is reported of each repository, and the verdict of a reader on each finding.

One file for each repository, one table for each finding. A finding is known again by its path, its code and a digest
of the text of its line, so that neither a new wording nor rows that are added above make it another one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

from .checked import LISTED, Checked, Listed, Place
from .pins import Pin, Sample
from .settings import FOLDER, Malformed, Table, read, tables

FINDINGS = FOLDER / "findings"
_KEYS = frozenset(("path", "cell", "line", "digest", "code", "severity", "verdict", "why"))
_HEAD = frozenset(("files", "of", "hints"))


class Verdict(Enum):
    """What a reader says of a finding."""

    TRUE = "true"  # the program does what the finding says, and its author would want to know
    ARGUABLE = "arguable"  # what it says holds, but it is meant so, or rests on what the program does not do
    FALSE = "false"  # it does not hold
    UNREAD = "unread"  # not judged yet


@dataclass(frozen=True, slots=True)
class Judged:
    """A finding of the list with its verdict and, unless it is unread, the reason."""

    place: Place
    code: str
    severity: str
    digest: str
    verdict: Verdict = Verdict.UNREAD
    why: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of one repository: how many of its files with PyTorch were looked at, and what was found."""

    files: int = 0
    total: int = 0
    hints: int = 0
    findings: tuple[Judged, ...] = ()


@dataclass(slots=True)
class Comparison:
    """The findings of a run beside those of the list."""

    stayed: list[tuple[Judged, Listed]] = field(default_factory=list)
    appeared: list[Listed] = field(default_factory=list)
    vanished: list[Judged] = field(default_factory=list)

    @property
    def regraded(self) -> Iterator[tuple[Judged, Listed]]:
        """Those that have another severity now."""
        yield from (pair for pair in self.stayed if pair[0].severity != pair[1].severity)


def file_of(pin: Pin, folder: Path = FINDINGS) -> Path:
    """Where the findings of a repository are listed."""
    return folder / f"{pin.name}.toml"


def load(path: Path) -> Known:
    """What a file lists; nothing if there is no such file."""
    if not path.exists():
        return Known()
    values = read(path)
    listed = values.pop("finding", [])
    head = Table(path, values, _HEAD)
    findings = tuple(_judged(path, table) for table in tables(path, listed, _KEYS))
    return Known(head.number("files"), head.number("of"), head.number("hints"), findings)


def _judged(path: Path, table: Table) -> Judged:
    place = Place(table.text("path"), table.number("cell", 0), table.number("line"))
    try:
        verdict = Verdict(table.text("verdict"))
    except ValueError as error:
        raise Malformed(f"{path}: {place}: {error}") from error
    why = table.text("why", "")
    severity = table.text("severity")
    if severity not in LISTED or (verdict is not Verdict.UNREAD and not why):
        raise Malformed(f"{path}: {place}: a severity that is listed and a reason of the verdict are expected")
    return Judged(place, table.text("code"), severity, table.text("digest"), verdict, why)


def text_of(what: Known) -> str:
    """The file with what is known."""
    return "".join(line + "\n" for line in _lines(what))


def _lines(what: Known) -> Iterator[str]:
    yield from (f"files = {what.files}", f"of = {what.total}", f"hints = {what.hints}")
    for each in sorted(what.findings, key=lambda each: (each.place, each.code)):
        yield from ("", "[[finding]]", f"path = {_quoted(each.place.path)}")
        if each.place.cell:
            yield f"cell = {each.place.cell}"
        yield f"line = {each.place.line}"
        yield f"digest = {_quoted(each.digest)}"
        yield f"code = {_quoted(each.code)}"
        yield f"severity = {_quoted(each.severity)}"
        yield f"verdict = {_quoted(each.verdict.value)}"
        if each.why:
            yield f"why = {_quoted(each.why)}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def compare(old: Iterable[Judged], new: Iterable[Listed]) -> Comparison:
    """Find each finding of the run in the list: on the same line if it is there, or else on the nearest one."""
    before, after = list(old), list(new)
    pairs = [
        (_distance(judged.place, listed.place), first, second)
        for first, judged in enumerate(before)
        for second, listed in enumerate(after)
        if (judged.place.path, judged.code, judged.digest) == (listed.place.path, listed.code, listed.digest)
    ]
    partner: dict[int, int] = {}
    for _, first, second in sorted(pairs):
        if first not in partner and second not in partner.values():
            partner[first] = second
    return Comparison(
        [(before[first], after[second]) for first, second in sorted(partner.items())],
        [listed for second, listed in enumerate(after) if second not in partner.values()],
        [judged for first, judged in enumerate(before) if first not in partner],
    )


def _distance(one: Place, other: Place) -> tuple[int, int]:
    return abs(one.cell - other.cell), abs(one.line - other.line)


def updated(checked: Checked, sample: Sample, compared: Comparison) -> Known:
    """The list after a run: verdicts stay with their findings, and what has appeared is unread."""
    stayed = [
        replace(judged, place=listed.place, severity=listed.severity, digest=listed.digest)
        for judged, listed in compared.stayed
    ]
    new = [Judged(each.place, each.code, each.severity, each.digest) for each in compared.appeared]
    return Known(len(sample.files), sample.total, checked.hints, (*stayed, *new))
