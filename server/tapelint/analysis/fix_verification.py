"""Whether a fix cures: what is reported before and after it, compared.

A cure is good if its hazard is gone, nothing new is there, and, if it is called safe, every backward still reaches as
many leaves, but for gradients that are thrown away before a step uses them. Where the same place then shows the same
hazard of another tensor (`h, c`), the cure is made once more.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from ..autograd.model.cuts import Withheld
from ..because import RunBy
from ..fixes import cuts
from ..report import Diagnostic, FileEdits
from ..rules import Finding
from ..rules.support.cure import FixProposal
from ..severity import Severity
from ..source.edit import line_starts
from .file_report import Report


def newly_exposed(before: Report, after: Report) -> int:
    """How many errors a fix has uncovered further on: one after which the program runs is the better one."""
    old = Counter(map(_place, before.findings.values()))
    new = Counter(_place(f) for f in after.findings.values() if f.severity is Severity.ERROR)
    return (new - old).total()


def cures(before: Report, diagnostic: Diagnostic, after: Report, cure: FixProposal, keeps_gradients: bool) -> bool:
    """Whether ``after``, by ``cure``, has lost ``diagnostic``, has nothing new, and (for a safe fix) every first
    backward reaches as many leaves.

    A path ends at its first error, so the cure of an error may uncover another hazard further on; that one is not
    new. What raises at the very call that was to be cured is, unless no such cure brings it about, and so is everything
    where nothing raised before, and what is to be noted of a row that the cure has written: a graph that is retained
    and grows.
    """
    old, new = Counter(map(_place, before.findings.values())), Counter(map(_place, after.findings.values()))
    hazard = before.findings[diagnostic.place]
    if new[_place(hazard)] >= old[_place(hazard)]:
        return False
    appeared = [found for found in after.findings.values() if _place(found) in new - old]
    if any(_is_harm(cure, hazard, found, before, after) for found in appeared):
        return False
    if any(after.stats[name] > before.stats[name] for name in ("stopped", "out_of_fuel", "faults")):
        return False  # what is not looked at is not cured
    if hazard.run_by is RunBy.IMAGINED and loses(before, after):
        return False  # what the caller is given has no graph any more
    return not keeps_gradients or reaches_as_much(after, before)


def is_guessed(report: Report, diagnostic: Diagnostic) -> bool:
    """Whether a finding rests on a guess: then no fix of it is safe, since the text may be right as it is."""
    return any(ground.kind == "guessed" for ground in report.findings[diagnostic.place].rests_on)


def reaches_as_much(after: Report, before: Report) -> bool:
    """Whether each backward still reaches as many leaves.

    A program that goes on where an error had ended it may call what only an imagined caller did: what that one gave
    is not compared with what the program gives.
    """
    goes_on = _goes_on(before, after)
    return reaches(after.reach, before.reach) and (goes_on or reaches(after.imagined, before.imagined))


COPIES = frozenset(("clone", "clone_before", "out_of_place", "out_of_place_each"))
"""Cures after which a write changes another tensor than before, and nothing else."""
WITHOUT_RECORD = frozenset(("no_grad", "no_grad_writes"))
"""Cures after which a write is not recorded."""


def withheld_by(cure: FixProposal, after: Report, made: Sequence[FileEdits]) -> list[Withheld]:
    """What the cuts that a cure has written keep from leaves."""
    if not cuts(cure) and cure.purpose not in WITHOUT_RECORD:
        return []
    return [each for each in after.withheld if _stands_in_edits(after, each.node, made)]


def _stands_in_edits(after: Report, node: ast.AST, made: Sequence[FileEdits]) -> bool:
    """Whether a node of the edited text ends in what the edits have put in."""
    texts = {each.filename: each for each in made}
    sources = [after.source, *after.others.values()]
    source = next((each for each in sources if each.path in texts and each.holds(node)), None)
    if source is None:
        return False
    span, starts = source.span(node), line_starts(source.text)
    end = starts[span.end_row - 1] + span.end_column - 1
    return any(first < end <= last for first, last in _inserted(texts[source.path]))


def _inserted(made: FileEdits) -> Iterator[tuple[int, int]]:
    """Where the text has what edits have put in, in characters."""
    starts, more = line_starts(made.text), 0
    for edit in sorted(made.edits, key=lambda edit: edit.span):
        first = starts[edit.span.row - 1] + edit.span.column - 1 + more
        last = starts[edit.span.end_row - 1] + edit.span.end_column - 1 + more
        yield first, first + len(edit.content)
        more += len(edit.content) - (last - first)


def _may_cause(cure: FixProposal, hazard: Finding, found: Finding) -> bool:
    """Whether a cure may have brought about what was ``found`` after it, where it was not merely hidden.

    A copy leaves every graph as it was. A graph that lacks a part does not make a backward run twice, or a write
    spoil what it saved; but if PyTorch says of the same call what it said before, too little was cut.
    """
    if cure.purpose in COPIES or cure.purpose in WITHOUT_RECORD and found.code == "TL401":
        return False
    is_about_graphs = found.code.startswith(("TL1", "TL2")) or found.code == "TL401"
    return not cuts(cure) or not is_about_graphs or found.raises == hazard.raises


def _is_caused(cure: FixProposal, hazard: Finding, found: Finding, before: Report, after: Report) -> bool:
    """Whether a cure has brought about an error: a backward lacks the graph that was cut off, in a row that the cure
    has written or above the call that raised, or what was a leaf is read as one.
    """
    more = len(after.source.lines) - len(before.source.lines)
    if cure.purpose.startswith("out_of_place") and found.code == "TL302":
        return True
    if found.code == "TL301" and any(_is_new(link.node, before, after) for link in found.links):
        return True  # the graph ends in what the cure has written
    row = getattr(hazard.raiser, "lineno", 0) + max(more, 0)
    is_above = found.raiser is not None and getattr(found.raiser, "lineno", row) <= row
    return cuts(cure) and found.code == "TL301" and hazard.run_by is found.run_by and is_above


def _is_harm(cure: FixProposal, hazard: Finding, found: Finding, before: Report, after: Report) -> bool:
    """Whether what has appeared after a cure speaks against it."""
    if _is_caused(cure, hazard, found, before, after):
        return True
    if found.severity > Severity.WARNING:
        return found.severity is Severity.INFORMATION and _is_new(found.node, before, after)
    raisers = set(map(_raiser, before.findings.values()))
    return hazard.severity is not Severity.ERROR or _raiser(found) in raisers and _may_cause(cure, hazard, found)


def loses(before: Report, after: Report) -> bool:
    """Whether fewer leaves get a gradient at all: some that had one have none. What an imagined caller gave does not
    count where the program has gone on to call that code itself.
    """
    if _goes_on(before, after) and len(after.reach) > len(before.reach):
        return after.trained_by_program < before.trained_by_program
    return after.trained < before.trained


def _goes_on(before: Report, after: Report) -> bool:
    """Whether the program calls what only an imagined caller did before."""
    return len(after.imagined) < len(before.imagined)


def _is_new(node: ast.AST, before: Report, after: Report) -> bool:
    """Whether a node stands in a row that was not in the text before."""
    row = getattr(node, "lineno", 0) if after.source.holds(node) else 0
    rows = after.source.lines[row - 1 : row]
    return bool({text.strip() for text in rows} - {text.strip() for text in before.source.lines})


def _raiser(finding: Finding) -> str:
    """What raises, without its arguments: a cure may change those."""
    node = finding.raiser
    return _bare(node.func if isinstance(node, ast.Call) else node) if node is not None else ""


def _place(finding: Finding) -> tuple[str, str]:
    """A finding's code and the text it is at, which an edit elsewhere does not change."""
    return finding.code, _bare(finding.node) if not isinstance(finding.node, ast.FunctionDef) else finding.node.name


def _bare(node: ast.AST) -> str:
    """Code without the copies and detaches that a cure puts in: the hazard may still be there with them."""
    return ast.unparse(node).replace(".detach()", "").replace(".clone()", "")


def reaches(now: Sequence[int], then: Sequence[int]) -> bool:
    """Whether each backward that ran before reaches as many leaves as it did; those that raised before come between."""
    if len(now) <= len(then):
        return all(after >= before for after, before in zip(now, then))
    left = iter(now)
    return all(any(after >= before for after in left) for before in then)


def same_kind_fixes(before: Report, diagnostic: Diagnostic, after: Report, cure: FixProposal) -> Iterator[FixProposal]:
    """The cures of the same kind for what the same place shows after ``cure``, or for what the same call then raises:
    a graph that is kept for it once is freed by itself in the next iteration.
    """
    hazard = before.findings[diagnostic.place]
    for finding in after.findings.values():
        is_raised = finding.raises is not None and finding.raises == hazard.raises
        if _place(finding) == _place(hazard) or is_raised and _raiser(finding) == _raiser(hazard):
            alike = (c for c in finding.cures if c.purpose == cure.purpose)
            yield from (c for c in alike if c.applicability in ("safe", cure.applicability))
