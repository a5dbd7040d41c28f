"""The table of docs/ecosystem.md: how many findings of the list are true, arguable and false."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from tapelint.severity import Severity

from .checked import LISTED
from .pins import Pin, pins
from .settings import ROOT
from .verdicts import FINDINGS, Known, Verdict, file_of, load

PAGE = ROOT / "docs" / "ecosystem.md"
SEVERITIES = tuple(severity.word for severity in Severity if severity.word in LISTED)
HEAD = "| repository | commit | files | errors | warnings | information | hints |\n|---|---|---|---|---|---|---|"


def table(listed: Sequence[Pin] | None = None, folder: Path = FINDINGS) -> Iterator[str]:
    """The rows for all repositories of the list, and a sum for either half; each cell counts the verdicts."""
    listed = pins() if listed is None else listed
    yield from HEAD.split("\n")
    halves: dict[bool, list[Known]] = {False: [], True: []}
    for pin in sorted(listed, key=lambda pin: (pin.held_out, pin.name.lower())):
        what = load(file_of(pin, folder))
        halves[pin.held_out].append(what)
        yield _row(f"[{pin.name}](https://github.com/{pin.name}/tree/{pin.commit})", pin.commit[:7], [what])
    for is_held_out, half in halves.items():
        if half:
            yield _row(f"{len(half)} held out" if is_held_out else f"{len(half)} looked at while working", "", half)


def _row(name: str, commit: str, half: Sequence[Known]) -> str:
    files, total = sum(what.files for what in half), sum(what.total for what in half)
    cells = [name, commit, f"{files} of {total}", *(_verdicts(half, severity) for severity in SEVERITIES)]
    return f"| {' | '.join(cells)} | {sum(what.hints for what in half)} |"


def _verdicts(half: Sequence[Known], severity: str) -> str:
    """
    >>> from .verdicts import Judged
    >>> from .checked import Place
    >>> _verdicts([Known(1, 1, 0, (Judged(Place("a.py", 0, 1), "TL201", "error", "", Verdict.TRUE),))], "error")
    '1 true'
    """
    found = Counter(each.verdict for what in half for each in what.findings if each.severity == severity)
    return ", ".join(f"{found[verdict]} {verdict.value}" for verdict in Verdict if found[verdict]) or "-"
