"""A table in Markdown of several surveys, and what has changed between two runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from tapelint.severity import Severity

from .survey import Found, Survey

SEVERITIES = tuple(severity.word for severity in Severity)

HEAD = (
    "repository",
    "commit",
    "files (torch)",
    "entry points",
    "cut",
    "files cut",
    "faults",
    "unknown calls",
    "backward",
    "known root",
    "forward",
    "to the end",
    "e / w / i / h",
    "rules",
    "time",
    "memory",
)


def share(part: int, whole: int) -> str:
    """
    >>> share(3, 4), share(0, 0)
    ('75 %', '-')
    """
    return f"{100 * part / whole:.0f} %" if whole else "-"


def cells(found: Survey) -> tuple[str, ...]:
    """A row of the table."""
    counted = Counter(each.severity for each in found.findings)
    rules = Counter(each.code for each in found.findings)
    stats = Counter(found.stats)
    return (
        found.name,
        found.commit or "-",
        f"{found.files} ({found.torch_files})",
        str(stats["entries"]),
        f"{stats['out_of_fuel']} ({share(stats['out_of_fuel'], stats['entries'])})" if stats["out_of_fuel"] else "-",
        share(found.cut_files, found.torch_files),
        str(len(found.faults)),
        str(stats["unknown_calls"]),
        str(stats["backward_sites"]),
        share(stats["known_roots"], stats["backward_sites"]),
        str(stats["forwards"]),
        share(stats["ended"], stats["forwards"]),
        " / ".join(str(counted[severity]) for severity in SEVERITIES),
        ", ".join(f"{code} {count}" for code, count in sorted(rules.items())) or "-",
        f"{found.seconds:.1f} s",
        f"{found.peak_mb:.0f} MB",
    )


def table(surveys: Sequence[Survey]) -> Iterator[str]:
    """The rows of a Markdown table, with the columns aligned."""
    rows = [HEAD, *map(cells, surveys)]
    widths = [max(map(len, column)) for column in zip(*rows)]
    for index, row in enumerate(rows):
        yield "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |"
        if not index:
            yield "|" + "|".join("-" * (width + 2) for width in widths) + "|"


def changes(old: Iterable[Survey], new: Iterable[Survey]) -> Iterator[str]:
    """Findings that appeared (+) and vanished (-), over the repositories that both runs have."""
    before, after = ({each.name: each for each in run} for run in (old, new))
    for name in sorted(before.keys() & after.keys()):
        was, now = set(map(_key, before[name].findings)), set(map(_key, after[name].findings))
        for sign, found, others in (("-", before[name], now), ("+", after[name], was)):
            for each in found.findings:
                if _key(each) not in others:
                    yield f"{sign} {name}: {each.place}"


def _key(found: Found) -> tuple[str, int, int, str, str]:
    """What makes a finding the same one: its wording may change."""
    return found.path, found.row, found.column, found.code, found.severity
