"""The facade: text in, a report out. Total, pure, and the only thing the editor and the command line know.

>>> report = analyse("import torch\\ny = torch.ones(3, requires_grad=True).exp()\\ny += 1\\ny.sum().backward()\\n")
>>> [d.code for d in report.diagnostics]
['TL201']
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, field, replace
from functools import partial
from typing import Literal

from ..autograd import Facts
from ..autograd.model.cuts import Withheld
from ..engine.limits import Limits
from ..engine.machine import Probe
from ..fault import fault_of
from ..frozen import frozen
from ..interpreter import (
    CHECKS,
    AnalysisCache,
    AnalysisStats,
    AnalysisUnit,
    Cancelled,
    Evaluator,
    Imports,
    Machine,
    Place,
    Resolve,
    execute,
    is_whole,
    walked,
)
from ..modules.loader import Outdated
from ..modules.shared_modules import SharedModules
from ..report import Diagnostic, FileEdits, Fix, Notice, Offer, dedupe_and_grade
from ..report.diagnostic import Place as Shown
from ..report.notice import internal
from ..rules import FileSummary, Finding, all_rules
from ..rules.support.cure import FixProposal
from ..severity import Severity
from ..source import Edit, Notebook, Source, Span, Suppressions, apply, changes, concerns_torch, moved, parse
from ..stubs import stub_module_name
from ..workspace.config import Config
from .cures_elsewhere import UNSAFE, edits_of, file_edits, is_edited, joined, named, with_texts
from .elsewhere import ConfigOf, Configs
from .fix_verification import cures, is_guessed, loses, newly_exposed, same_kind_fixes, withheld_by
from .focus import unrelated
from .inputs import Inputs
from .locations import Files, Hidden, Origin
from .rule_listener import RuleListener, found_in, running
from .unseen import notices, unparsed
from .used_elsewhere import UsedElsewhere, Users
from .without_fix import lack, no_fix

__all__ = ["Cancelled", "AnalysisCache", "Report", "SharedModules", "analyse", "fixes", "offer"]

MORE = 2
"""How often a cure is made again where the same place then shows the same hazard of another tensor."""
FRAMES = 12_000
"""Python frames the interpreter may need for the deepest program it accepts."""


Tried = tuple[bool, int, bool, int, Fix]
"""A fix that cures: whether it loses gradients, what it leaves uncovered, whether it is unsafe, how often it was made
again, and the fix.
"""


@frozen
class Report:
    """The result of one analysis of one file."""

    path: str
    source: Source
    diagnostics: tuple[Diagnostic, ...]
    # counters of what was executed and what remained unknown
    stats: dict[str, int]
    inputs: Inputs
    # the finding of each diagnostic, those in other files included
    findings: dict[Shown, Finding] = field(default_factory=dict)
    # how many leaves the first backward at each place reached, in the program and where only a caller that was imagined
    # runs it, and how many any of them did: all, and those that the program runs
    reach: tuple[int, ...] = ()
    imagined: tuple[int, ...] = ()
    # what these would be without any cut
    uncut_reach: tuple[int, ...] = ()
    uncut_imagined: tuple[int, ...] = ()
    trained: int = 0
    trained_by_program: int = 0
    # what cuts have kept from leaves, and what of it is thrown away before any step could use it
    withheld: frozenset[Withheld] = frozenset()
    withheld_in_vain: frozenset[Withheld] = frozenset()
    # and what of it is kept from leaves that get no gradient at all
    untrained: frozenset[Withheld] = frozenset()
    # paths of the workspace's files that were read for its imports
    imports: tuple[str, ...] = ()
    # those of them that were executed, by path
    others: dict[str, Source] = field(default_factory=dict)
    # all hazards, also those in other files
    origins: frozenset[Origin] = frozenset()
    # the fixes of findings about suppression comments, by code and span
    removals: dict[tuple[str, Span], Fix] = field(default_factory=dict)
    # places, in any file, that go backward, and whether the root was ever known to have a graph
    walks: dict[Place, bool] = field(default_factory=dict)
    # what was not analysed; none of them is a finding
    notices: tuple[Notice, ...] = ()
    # what stands in other files that are checked, each with the severity that it has for the user
    elsewhere: tuple[Diagnostic, ...] = ()
    # what comments in the file silence
    hidden: tuple[Hidden, ...] = ()


def analyse(
    text: str | Notebook,
    path: str = "<stdin>",
    config: Config = Config(),  # noqa: B008 (frozen)
    cancel: Callable[[], bool] | None = None,
    resolve: Resolve | None = None,
    memory: AnalysisCache | None = None,
    is_imported: Callable[[str], bool] | None = None,
    limits: Limits = Limits(),  # noqa: B008 (frozen)
    config_of: ConfigOf | None = None,
    focus: frozenset[str] = frozenset(),
    users: Users | None = None,
    shared: SharedModules | None = None,
) -> Report:
    """Execute ``text`` abstractly and report its hazards. Raises nothing but Cancelled, when ``cancel()`` turns true.

    ``resolve`` finds the text of a module that is imported (``workspace.Resolver`` does); without it every import is
    an unknown library. ``is_imported`` knows whether another file may import the one at a path; without it none
    does. ``limits`` are the budgets. ``config_of`` says which of the imported files are checked as well, so that what
    stands in them is reported there; without it all is reported at the calls in this file. With a ``focus`` only
    functions that have to do with one of these names are tried out. ``users`` are the files that use the one at a
    path: what they do only where gradients are off is not reported of a caller that is imagined. Modules that are
    ``shared`` with the analyses of other files are executed once for all of them; the report is the same. With the
    ``memory`` of earlier texts of the same file under the same configuration only what has changed is executed, and
    the report of the text before is not to be used any more: its tree lives on in this one's.
    """
    inputs = Inputs(config, resolve, is_imported, limits, config_of, focus, users, shared)
    return _analyse_text(text, path, inputs, cancel, memory)


def _analyse_text(
    text: str | Notebook,
    path: str,
    inputs: Inputs,
    cancel: Callable[[], bool] | None = None,
    memory: AnalysisCache | None = None,
) -> Report:
    program = Notebook(text, ()) if isinstance(text, str) else text
    memory = memory or AnalysisCache()
    source = parse(program.text, path, program.cells)
    try:
        return _analyse(source, inputs, cancel, memory)
    except Cancelled:
        raise
    except Exception as error:
        memory.forget()
        lost = internal(path, "nothing was checked", fault_of(error))
        return Report(path, source, (), asdict(AnalysisStats(faults=1)), inputs, notices=(lost,))


def _analyse(
    source: Source, inputs: Inputs, cancel: Callable[[], bool] | None, memory: AnalysisCache, is_main: bool = True
) -> Report:
    """``analyse``; a file that is not ``is_main`` is analysed for what it shows by itself, on behalf of another one."""
    config = inputs.config
    if source.is_skipped or not concerns_torch(source.text, source.path, inputs.resolve):
        return Report(source.path, source, (), asdict(AnalysisStats()), inputs, notices=tuple(unparsed(source)))
    machine = _resumed(source, inputs, memory)
    try:
        steps = executed(machine, cancel, memory)
    except Outdated:
        memory.forget()
        return _analyse(source, inputs, cancel, memory, is_main)
    if inputs.shared is not None:
        inputs.shared.keep(machine, config)
    imports = machine.imports
    configs = Configs(inputs.config_of)
    files = Files(source, imports.sources if imports else (), configs.holds, config.ignore_noqa)
    quiet = UsedElsewhere(source, inputs.users).without_gradients
    noted = found_in(steps, partial(files.stands_in_tests, conventions=config.tests), quiet)
    findings = noted.findings.values()
    origins = frozenset(map(files.origin, findings))
    alone = memory.standalone_results if is_main else None
    is_elsewhere = partial(_is_shown_alone, files=files, inputs=inputs, cancel=cancel, alone=alone)
    shown = [*_shown(findings, files, is_elsewhere, machine)]
    here, there = _by_place(shown, source.path)
    is_certain = partial(_is_certain, machine, source, steps, inputs.is_imported)
    summary = _summary(source, config, files, findings, is_certain)
    remarks = dict(files.remarks(summary, config.names)) if is_main and not config.ignore_noqa else {}
    silencing = Suppressions() if config.ignore_noqa else source.suppressions
    found = [*dedupe_and_grade([diagnostic for diagnostic, _ in here], silencing), *remarks]
    return Report(
        source.path,
        source,
        dedupe_and_grade(found, grade=partial(_grade, config, source.path)),
        asdict(machine.unit.stats),
        inputs,
        findings={diagnostic.place: finding for diagnostic, finding in shown},
        reach=tuple(noted.reach.values()),
        imagined=tuple(noted.imagined.values()),
        uncut_reach=noted.uncut(noted.reach),
        uncut_imagined=noted.uncut(noted.imagined),
        trained=noted.trained,
        trained_by_program=noted.trained_by_program,
        withheld=frozenset(noted.fates.withheld),
        withheld_in_vain=noted.fates.in_vain,
        untrained=noted.untrained,
        imports=tuple(imports.paths) if imports else (),
        others={other.path: other for other in files.others},
        origins=origins,
        removals={(diagnostic.code, diagnostic.span): fix for diagnostic, fix in remarks.items()},
        walks=walked(steps),
        notices=notices(files, steps, machine.unit.stats.entries),
        elsewhere=dedupe_and_grade(there, grade=configs.grade),
        hidden=tuple(_hidden(findings, files, partial(_grade, config, source.path))),
    )


def _hidden(
    findings: Iterable[Finding], files: Files, grade: Callable[[Diagnostic], Severity | None]
) -> Iterator[Hidden]:
    """What comments in this file silence and would be reported without them, each hazard once, in reading order."""
    if not files.main.suppressions.entries:
        return
    found = [hidden for finding in findings if (hidden := files.hidden(finding)) is not None]
    for diagnostic in dedupe_and_grade((hidden.diagnostic for hidden in found), grade=grade):
        rows = (hidden.rows for hidden in found if hidden.diagnostic.place == diagnostic.place)
        yield Hidden(diagnostic, frozenset().union(*rows))


def _shown(
    findings: Iterable[Finding], files: Files, is_elsewhere: Callable[[Finding], bool], machine: Machine
) -> Iterator[tuple[Diagnostic, Finding]]:
    """The findings that this file is to show, each with its diagnostic. Raises Cancelled."""
    for finding in findings:
        machine.check_cancelled()
        if not is_elsewhere(finding) and (diagnostic := files.diagnostic(finding)) is not None:
            yield diagnostic, finding


def _by_place(
    shown: list[tuple[Diagnostic, Finding]], path: str
) -> tuple[list[tuple[Diagnostic, Finding]], list[Diagnostic]]:
    """What is reported in the file at ``path``, and what in others."""
    here = [pair for pair in shown if pair[0].filename == path]
    return here, [diagnostic for diagnostic, _ in shown if diagnostic.filename != path]


def _resumed(source: Source, inputs: Inputs, memory: AnalysisCache) -> Machine:
    """A machine that goes on from what ``memory`` knows of an earlier text, or begins anew; the rules listen to it."""
    under = (inputs.config, inputs.limits)
    machine = memory.resume(source, inputs.resolve, under)
    if machine is None:
        machine = made(source, Facts(), inputs)
        machine.facts.events.subscribe(RuleListener(machine, inputs.config).hear)
        memory.begin(machine, source, under)
    machine.untried = unrelated(source.tree, inputs.focus) if inputs.focus else frozenset()
    return machine


def _summary(
    source: Source, config: Config, files: Files, findings: Iterable[Finding], is_certain: Callable[[], bool]
) -> FileSummary:
    """What the rules about comments look at: every hazard that stands in the file, or that a call in it leads to."""
    places = ((finding.code, place) for finding in findings if (place := files.place_in_main(finding)) is not None)
    return FileSummary(
        source,
        frozenset((code, source.span(place).row) for code, place in places),
        frozenset(rule.code for rule in running(config) if rule.check),
        {rule.code: rule.name for rule in all_rules()},
        is_certain,
    )


def _is_certain(
    machine: Machine, source: Source, steps: list[AnalysisUnit], is_imported: Callable[[str], bool] | None
) -> bool:
    """Whether a hazard that was not seen is not there: all of the file was executed, and no other file imports it."""
    complete = not source.problems and is_whole(machine, steps)
    return complete and not (is_imported is not None and is_imported(source.path))


def _grade(config: Config, path: str, diagnostic: Diagnostic) -> Severity | None:
    """How grave a finding is to the user; None where it is not wanted."""
    return config.grade(diagnostic.code, diagnostic.severity, path)


Imported = dict[tuple[str, str], tuple[str, str] | None]
"""What an import of a module by a file meant: the path and the text of another file, or None."""


@frozen
class Alone:
    """The hazards that a file shows when it is checked by itself, and what its imports meant then."""

    text: str
    imports: Imported
    origins: frozenset[Origin]


def _is_shown_alone(
    finding: Finding,
    files: Files,
    inputs: Inputs,
    cancel: Callable[[], bool] | None,
    alone: dict[str, Alone] | None,
) -> bool:
    """Whether one of the other files that a hazard is in shows it when it is checked by itself; never, where ``alone``
    is None: then this file itself is the one that is checked by itself.
    """
    place = files.shown_at(finding)
    if alone is None or place is None or place[0] is finding.node or place[1] is not files.main:
        return False

    def resolved(module: str, importer: str) -> tuple[str, str] | None:
        return inputs.resolve(module, importer) if inputs.resolve is not None else None

    origin = None
    for path, other in files.owners(finding).items():
        origin = origin or files.origin(finding)
        if stub_module_name(path) is not None:
            continue  # by itself it has no hazards
        known = alone.get(path)
        if known is None or known.text != other.text or any(resolved(*k) != v for k, v in known.imports.items()):
            asked: Imported = {}

            def noting(module: str, importer: str, asked: Imported = asked) -> tuple[str, str] | None:
                found = asked[module, importer] = resolved(module, importer)
                return found

            by_itself = Inputs(inputs.config, noting, limits=inputs.limits, shared=inputs.shared)
            report = _analyse(parse(other.text, path), by_itself, cancel, AnalysisCache(), is_main=False)
            known = alone[path] = Alone(other.text, asked, report.origins)
        if any(shown.covers(origin) for shown in known.origins):
            return True
    return False


def run(
    source: Source,
    facts: Facts,
    inputs: Inputs = Inputs(),  # noqa: B008 (frozen)
    probe: Probe | None = None,
    cancel: Callable[[], bool] | None = None,
) -> Machine:
    """Execute ``source`` over ``facts``."""
    machine = made(source, facts, inputs, probe)
    executed(machine, cancel)
    return machine


def made(
    source: Source,
    facts: Facts,
    inputs: Inputs = Inputs(),  # noqa: B008 (frozen)
    probe: Probe | None = None,
) -> Machine:
    """A machine that is ready to execute ``source`` under ``inputs``, be it to check it, for a hover or for a trace."""
    tests = inputs.config.tests
    machine = Evaluator(facts, source.tree, CHECKS, probe=probe, limits=inputs.limits)
    machine.cells, machine.tests = source.cells, tests
    machine.collects_tests = tests.is_test_file(source.path)
    machine.serves_tests = tests.serves_tests(source.path, source.tree)
    if inputs.resolve is not None:
        machine.imports = Imports(machine, source, inputs.resolve, inputs.config.follow_installed)
        if inputs.shared is not None:
            inputs.shared.give(machine, inputs.config)
    return machine


def executed(
    machine: Machine, cancel: Callable[[], bool] | None = None, memory: AnalysisCache | None = None
) -> list[AnalysisUnit]:
    """Execute the file of ``machine``; the steps it took."""
    machine.cancel = cancel
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, FRAMES))
    try:
        return execute(machine, memory)
    finally:
        sys.setrecursionlimit(limit)


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
        return Offer(no_fix=no_fix(finding, len(seen), kept), lacking=lack(finding))
    found = _without_needless(report.source.text, found)
    found.sort(key=lambda each: each[:4])
    loses_some = found[0][0]  # what takes gradients away is for the user to choose
    fixes = tuple(replace(fix, preferred=index == 0 and not loses_some) for index, (*_, fix) in enumerate(found))
    return Offer(fixes, lacking=lack(finding))


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
    while not (good := cures(report, diagnostic, after, cure, is_safe or more > 0)) and more < MORE:
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
    cure = replace(cure, applicability=verdict)
    fix = Fix(_title(cure, more, made, diagnostic), verdict, False, own, others)
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
        alone = _analyse(parse(text, path), inputs, cancel, AnalysisCache(), is_main=False)
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
    return _analyse_text(program, report.path, report.inputs, cancel, memory)
