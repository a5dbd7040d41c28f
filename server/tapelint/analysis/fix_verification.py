"""Whether a fix cures: what is reported before and after it, compared.

A cure is good if its hazard is gone, nothing new is there, and, if it is called safe, every backward still reaches as
many leaves. Where the same place then shows the same hazard of another tensor (`h, c`), the cure is made once more.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Protocol

from ..report import Diagnostic
from ..rules import Finding
from ..rules.support.cure import FixProposal
from ..severity import Severity
from ..source import Source, Span


class Report(Protocol):
    """What is looked at of a report."""

    @property
    def findings(self) -> dict[tuple[str, Span], Finding]: ...
    @property
    def reach(self) -> tuple[int, ...]: ...
    @property
    def stats(self) -> dict[str, int]: ...
    @property
    def source(self) -> Source: ...
    @property
    def trained(self) -> int: ...


def newly_exposed(before: Report, after: Report) -> int:
    """How many errors a fix has uncovered further on: one after which the program runs is the better one."""
    old = Counter(map(_place, before.findings.values()))
    new = Counter(_place(f) for f in after.findings.values() if f.severity is Severity.ERROR)
    return (new - old).total()


def cures(before: Report, diagnostic: Diagnostic, after: Report, keeps_gradients: bool) -> bool:
    """Whether ``after`` has lost ``diagnostic``, has nothing new, and (for a safe fix) every first backward reaches
    as many leaves.

    A path ends at its first error, so the cure of an error may uncover another hazard further on; that one is not
    new. What raises at the very call that was to be cured is, and so is everything where nothing raised before, and
    what is to be noted of a row that the cure has written: a graph that is retained and grows.
    """
    old, new = Counter(map(_place, before.findings.values())), Counter(map(_place, after.findings.values()))
    hazard = before.findings[diagnostic.code, diagnostic.span]
    if new[_place(hazard)] >= old[_place(hazard)]:
        return False
    raisers = set(map(_raiser, before.findings.values()))
    for found in after.findings.values():
        if _place(found) not in new - old:
            continue
        if found.severity <= Severity.WARNING:
            if hazard.severity is not Severity.ERROR or _raiser(found) in raisers:
                return False
        elif found.severity is Severity.INFORMATION and _is_written(found, before, after):
            return False
    if any(after.stats[name] > before.stats[name] for name in ("stopped", "out_of_fuel", "faults")):
        return False  # what is not looked at is not cured
    return not keeps_gradients or reaches(after.reach, before.reach)


def loses(before: Report, after: Report) -> bool:
    """Whether fewer leaves get a gradient at all: some that had one have none."""
    return after.trained < before.trained


def _is_written(finding: Finding, before: Report, after: Report) -> bool:
    """Whether a finding is about a row that was not in the text before."""
    row = getattr(finding.node, "lineno", 0)
    rows = after.source.lines[row - 1 : row]
    return bool({text.strip() for text in rows} - {text.strip() for text in before.source.lines})


def _raiser(finding: Finding) -> str:
    """What raises, without its arguments: a cure may change those."""
    node = finding.raiser
    return ast.unparse(node.func if isinstance(node, ast.Call) else node) if node is not None else ""


def _place(finding: Finding) -> tuple[str, str]:
    """A finding's code and the text it is at, which an edit elsewhere does not change."""
    return finding.code, ast.unparse(finding.node) if not isinstance(
        finding.node, ast.FunctionDef
    ) else finding.node.name


def reaches(now: Sequence[int], then: Sequence[int]) -> bool:
    """Whether each backward that ran before reaches as many leaves as it did; those that raised before come between."""
    if len(now) <= len(then):
        return all(after >= before for after, before in zip(now, then))
    left = iter(now)
    return all(any(after >= before for after in left) for before in then)


def same_kind_fixes(before: Report, diagnostic: Diagnostic, after: Report, cure: FixProposal) -> Iterator[FixProposal]:
    """The cures of the same kind for what the same place shows after ``cure``."""
    place = _place(before.findings[diagnostic.code, diagnostic.span])
    for finding in after.findings.values():
        if _place(finding) == place:
            yield from (c for c in finding.cures if (c.purpose, c.applicability) == (cure.purpose, cure.applicability))
