"""One analysis of one file: text in, a report out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from functools import partial

from ..autograd import Facts
from ..engine.analysis_unit import AnalysisUnit
from ..engine.executed import is_whole
from ..engine.incremental import AnalysisCache, walked
from ..engine.limits import Limits
from ..engine.machine import Cancelled, Machine
from ..engine.statistics import AnalysisStats
from ..fault import fault_of
from ..frozen import frozen
from ..modules.loader import Outdated
from ..modules.shared_modules import SharedModules
from ..report import Diagnostic, dedupe_and_grade
from ..report.notice import internal
from ..rules import FileSummary, Finding, all_rules
from ..severity import Severity
from ..source import Notebook, Source, Suppressions, concerns_torch, parse
from ..stubs import Resolve, stub_module_name
from ..workspace.config import Config
from .elsewhere import ConfigOf, Configs, UsedElsewhere, Users, unrelated
from .execution import Inputs, executed, made
from .file_report import Report
from .locations import Files, Hidden, Origin
from .rule_listener import Noted, RuleListener, found_in, running
from .unseen import notices, unparsed


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
    return analyse_text(text, path, inputs, cancel, memory)


def analyse_text(
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
        return analyse_source(source, inputs, cancel, memory)
    except Cancelled:
        raise
    except Exception as error:
        memory.forget()
        lost = internal(path, "nothing was checked", fault_of(error))
        return Report(path, source, (), asdict(AnalysisStats(faults=1)), inputs, notices=(lost,))


def analyse_source(
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
        return analyse_source(source, inputs, cancel, memory, is_main)
    if inputs.shared is not None:
        inputs.shared.keep(machine, config)
    imports, configs = machine.imports, Configs(inputs.config_of)
    files, noted = judged(
        machine, source, inputs, [*steps, *(_in_short(source, inputs, steps, cancel) if is_main else ())], configs
    )
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


def _in_short(
    source: Source, inputs: Inputs, steps: Iterable[AnalysisUnit], cancel: Callable[[], bool] | None
) -> list[AnalysisUnit]:
    """The steps of a second look at the script, if the first one came to no end: along one path. What it shows counts
    as well; nothing else of it does.
    """
    if inputs.limits.call_share == 1 or not any(step.is_script and step.is_exhausted for step in steps):
        return []  # of a caller, which is executed for what it calls
    machine = _resumed(source, replace(inputs, limits=inputs.limits.in_short), AnalysisCache())
    return executed(machine, cancel)


def judged(
    machine: Machine, source: Source, inputs: Inputs, steps: Iterable[AnalysisUnit], configs: Configs
) -> tuple[Files, Noted]:
    """The files that were executed in ``steps``, and what was found there by the rules that listened."""
    others = machine.imports.sources if machine.imports else ()
    files = Files(source, others, configs.holds, inputs.config.ignore_noqa)
    elsewhere = UsedElsewhere(source, inputs.users, inputs.config.tests)
    return files, found_in(steps, partial(files.stands_in_tests, conventions=inputs.config.tests), elsewhere.refutes)


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
            report = analyse_source(parse(other.text, path), by_itself, cancel, AnalysisCache(), is_main=False)
            known = alone[path] = Alone(other.text, asked, report.origins)
        if any(shown.covers(origin) for shown in known.origins):
            return True
    return False
