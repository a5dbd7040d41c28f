"""Fixes of the findings of a report: each is made, and the text that it makes is analysed again.

Why a finding has no fix: a clause for "No safe fix: ...".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Literal

from ..bounds import BOUNDS
from ..engine.incremental import AnalysisCache
from ..report import Diagnostic, FileEdits, Fix, Offer
from ..rules import Finding
from ..rules.support.cure import FixProposal
from ..severity import Severity
from ..source import Edit, Notebook, Source, apply, changes, moved, parse
from ..stubs import Resolve
from .checking import analyse_source, analyse_text
from .cures_elsewhere import UNSAFE, edits_of, file_edits, is_edited, joined, named, with_texts
from .execution import Inputs
from .file_report import Report
from .fix_verification import cures, is_guessed, loses, newly_exposed, same_kind_fixes, withheld_by

GUESSED = "It is right only where what the finding assumes is so."
LOST = "Gradients that the program uses are then missing."
"""Effects of fixes that the engine takes for unsafe."""

Tried = tuple[bool, int, bool, int, Fix]
"""A fix that cures: whether it loses gradients, what it leaves uncovered, whether it is unsafe, how often it was made
again, and the fix.
"""


def trials() -> AnalysisCache:
    """What the verification of one fix leaves for that of the next: their texts differ in two edits."""
    return AnalysisCache(persistent=True)


def fixes(
    report: Report,
    diagnostic: Diagnostic,
    cancel: Callable[[], bool] | None = None,
    memory: AnalysisCache | None = None,
) -> tuple[Fix, ...]:
    """The fixes of a finding, best first. Each was made and analysed: the hazard is gone and there is no new one."""
    return offer(report, diagnostic, cancel, memory).fixes


def offer(
    report: Report,
    diagnostic: Diagnostic,
    cancel: Callable[[], bool] | None = None,
    memory: AnalysisCache | None = None,
) -> Offer:
    """The fixes of a finding, or why there is none. The user may want none for findings of its rule. A caller that asks
    for several findings of a report gives the same ``memory`` to all of them (`trials`).
    """
    if not report.inputs.config.fixes(diagnostic.code):
        return Offer()
    removal = report.removals.get((diagnostic.code, diagnostic.span))
    if removal is not None and diagnostic.filename == report.path:
        return Offer((removal,))
    finding = report.findings.get(diagnostic.place)
    if finding is None:
        return Offer()
    found: list[Tried] = []
    seen: set[object] = set()
    memory = memory if memory is not None else trials()
    for cure in sorted(finding.cures, key=lambda c: c.applicability):
        made = file_edits(report, cure)
        if made is None or made in seen:
            continue
        seen.add(made)
        tried = _tried(report, diagnostic, cure, made, cancel, memory)
        if tried is not None:
            found.append(tried)
    if not found:
        kept = [other for path, other in report.others.items() if not is_edited(report.inputs, path)]
        return Offer(no_fix=no_fix(finding, len(seen), kept))
    found = _without_needless(report.source.text, found)
    found.sort(key=lambda each: each[:4])
    loses_some = found[0][0]  # what takes gradients away is for the user to choose
    fixes = tuple(replace(fix, preferred=index == 0 and not loses_some) for index, (*_, fix) in enumerate(found))
    return Offer(fixes)


def _without_needless(text: str, found: list[Tried]) -> list[Tried]:
    """Those that were made more than once only where no other inserts a part of the same into ``text`` and cures, or
    one before it all of the same.
    """
    own = [apply(text, fix.edits) for *_, fix in found]
    inserted = [new for new, (*_, fix) in zip(own, found) if not fix.others and _is_part(text, new)]
    kept: list[Tried] = []
    for each, new in zip(found, own):
        made = [(fix.edits, fix.others) for *_, fix in kept]
        is_twin = (each[4].edits, each[4].others) in made
        if not each[3] or not is_twin and not any(_is_part(other, new) for other in inserted if other != new):
            kept.append(each)
    return kept


def _is_part(text: str, other: str) -> bool:
    """Whether a text is another one with something taken out."""
    left = iter(other)
    return all(letter in left for letter in text)


def _tried(
    report: Report,
    diagnostic: Diagnostic,
    cure: FixProposal,
    made: tuple[FileEdits, ...],
    cancel: Callable[[], bool] | None,
    memory: AnalysisCache,
) -> Tried | None:
    """Make a cure, once more where the place then shows the same hazard of another tensor. None where the hazard
    stays or there is a new one. Only what is unlike the text that was tried before this one is executed.
    """
    after = _changed(report, made, cancel, memory)
    is_safe, more = cure.applicability == "safe", 0
    while not (good := cures(report, diagnostic, after, cure, is_safe or more > 0)) and more < BOUNDS.cures_more:
        similar = same_kind_fixes(report, diagnostic, after, cure)
        again = next((edits for other in similar if (edits := file_edits(after, other))), None)
        if again is None:
            break
        after, more, made = _changed(after, again, cancel, memory), more + 1, joined(made, again)
    if not good or _ends_walks(report, after, made) or _harms(report, made, cancel):
        return None
    verdict = _safety(report, diagnostic, after, cure, made)
    if verdict is None:
        return None
    own = differences(report, after) if more else edits_of(made, report.path)
    others = tuple(each for each in made if each.filename != report.path)
    effect = cure.effect or _effect(cure, verdict, is_guessed(report, diagnostic))
    cure = replace(cure, applicability=verdict)
    fix = Fix(_title(cure, more, made, diagnostic), verdict, False, own, others, effect)
    return loses(report, after), newly_exposed(report, after), verdict == "unsafe", more, fix


def _safety(
    report: Report, diagnostic: Diagnostic, after: Report, cure: FixProposal, made: tuple[FileEdits, ...]
) -> Literal["safe", "unsafe"] | None:
    """How safe a cure is that cures, by what its cuts keep from leaves: None where that changes the gradients of each
    iteration, though the cure is meant to be safe. What an earlier one has computed is out of date: there it only
    matters that the leaf is trained at all.
    """
    kept = withheld_by(cure, after, made)
    lost = [each for each in kept if each not in after.withheld_in_vain]
    if cure.applicability == "safe" and any(each.when == "later" for each in lost):
        return None
    if any(each.when != "before" or each in after.untrained for each in lost) or is_guessed(report, diagnostic):
        return "unsafe"
    if cure.applicability == "safe" or not kept or lost or loses(report, after):
        return cure.applicability
    uncut = replace(after, reach=after.uncut_reach, imagined=after.uncut_imagined)
    return "safe" if cures(report, diagnostic, uncut, cure, True) else "unsafe"


def _effect(cure: FixProposal, verdict: str, guessed: bool) -> str:
    """What there is to say of a cure that its rule says nothing of."""
    if verdict == "safe":
        return ""
    return GUESSED if guessed else LOST if cure.applicability == "safe" else ""


def _title(cure: FixProposal, more: int, made: Iterable[FileEdits], diagnostic: Diagnostic) -> str:
    """What a fix is called that makes a cure and so many ``more`` like it."""
    title = f"{cure.title}, and {more} more like it" if more else cure.title
    title = named(title, (each.filename for each in made), diagnostic.filename)
    return title if cure.applicability == "safe" else title + UNSAFE


def _changed(
    report: Report, made: tuple[FileEdits, ...], cancel: Callable[[], bool] | None, memory: AnalysisCache
) -> Report:
    """What is reported of the checked file once all of these edits are ``made``."""
    texts = {each.filename: each.after for each in made if each.filename != report.path}
    own = edits_of(made, report.path)
    return edited(replace(report, inputs=with_texts(report.inputs, texts)), own, cancel, memory)


def _harms(report: Report, made: Iterable[FileEdits], cancel: Callable[[], bool] | None) -> bool:
    """Whether another file that is edited shows more by itself than it did."""
    others = [each for each in made if each.filename != report.path]
    texts = {each.filename: each.after for each in others}

    def codes(path: str, text: str, resolve: Resolve | None) -> Counter[str]:
        inputs = Inputs(report.inputs.config, resolve, limits=report.inputs.limits, shared=report.inputs.shared)
        alone = analyse_source(parse(text, path), inputs, cancel, AnalysisCache(), is_main=False)
        return Counter(found.code for found in alone.findings.values() if found.severity <= Severity.WARNING)

    before, after = report.inputs.resolve, with_texts(report.inputs, texts).resolve
    return any(
        not codes(each.filename, each.after, after) <= codes(each.filename, each.text, before) for each in others
    )


def _ends_walks(before: Report, after: Report, made: Iterable[FileEdits]) -> bool:
    """Whether a backward in a file that was not edited does not run any more, or without a graph: what leads there was
    cut, as by ``run(train.detach())``.
    """
    edited = {"", before.path, *(each.filename for each in made)}
    elsewhere = ((place, rooted) for place, rooted in before.walks.items() if place[0] not in edited)
    return any(place not in after.walks or rooted > after.walks[place] for place, rooted in elsewhere)


def differences(before: Report, after: Report) -> tuple[Edit, ...]:
    """The edits that make the text of one report into that of another, each within a cell."""
    old, new = before.source, after.source
    return tuple(changes(old.text, old.cells, new.text, new.cells))


def edited(
    report: Report,
    edits: Iterable[Edit],
    cancel: Callable[[], bool] | None = None,
    memory: AnalysisCache | None = None,
) -> Report:
    """What is reported of the text that ``edits`` make. With the ``memory`` of another text that was made so, its
    report is not to be used any more (`analyse`).
    """
    edits, source = tuple(edits), report.source
    text = apply(source.text, edits)
    program = Notebook(text, moved(source.cells, edits)) if source.cells else text
    return analyse_text(program, report.path, report.inputs, cancel, memory)


HARM = "leaves the error, brings another one or takes gradients away"


def no_fix(finding: Finding, tried: int, others: Iterable[Source]) -> str | None:
    """Why none of the edits of ``finding`` is offered: so many were ``tried`` and judged, the rest may be for
    ``others``, files that are not edited. None where PyTorch does not raise.
    """
    if not finding.raises:
        return None
    if tried:
        return (
            f"the one edit that was tried {HARM}" if tried == 1 else f"each of the {tried} edits that were tried {HARM}"
        )
    if any(other.holds(target) for other in others for cure in finding.cures for target in cure.targets):
        return "what would have to change stands in a file that is not checked"
    if finding.cures:
        return finding.no_fix or "the edit that would help does not fit the code as it is written"
    return finding.no_fix or "how to change it depends on what the program is meant to compute"
