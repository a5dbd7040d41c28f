"""The facade: text in, a report out. Total, pure, and the only thing the editor and the command line know.

>>> report = analyse("import torch\\ny = torch.ones(3, requires_grad=True).exp()\\ny += 1\\ny.sum().backward()\\n")
>>> [d.code for d in report.diagnostics]
['TL201']
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace

from ..autograd import Facts
from ..autograd.events.graph_walks import BackwardRan, Event
from ..fault import fault_of
from ..interpreter import (
    AnalysisStats,
    AnalysisUnit,
    Cancelled,
    Entry,
    Imports,
    Machine,
    Memory,
    Place,
    Resolve,
    execute,
    is_whole,
    walked,
)
from ..modules.loader import Outdated
from ..report import Diagnostic, Fix, Notice, settle
from ..report.notice import internal
from ..rules import FileSummary, Finding, Rule, all_rules
from ..source import Edit, Notebook, Source, Span, apply, concerns_torch, difference, moved, parse
from ..stubs import stub_module_name
from ..workspace.config import Config
from .fix_verification import cures, likewise, uncovered
from .locations import Files, Origin
from .unseen import notices, unparsed

__all__ = ["Cancelled", "Hover", "Memory", "Report", "analyse", "fixes", "hover"]

SEVERITIES = ("error", "warning", "information", "hint")
MORE = 2
"""How often a cure is made again where the same place then shows the same hazard of another tensor."""
FRAMES = 12_000
"""Python frames the interpreter may need for the deepest program it accepts."""


@dataclass(frozen=True, slots=True)
class Report:
    """What is known of one version of one file. ``stats`` counts what was executed and what remained unknown.

    ``resolve`` is how its imports were followed, ``is_imported`` knows of files that import it, ``imports`` are those
    of the workspace that were read for it and ``others`` those of them that were executed, by path. ``origins`` are the
    hazards that were seen, also those in other files. ``removals`` are the fixes of what is said about comments.
    ``walks`` are the places, in this file or another, at which the program went backward, and whether the root was once
    known to carry a graph. ``notices`` say what was not seen of the file; no finding is among them.
    """

    path: str
    source: Source
    diagnostics: tuple[Diagnostic, ...]
    stats: dict[str, int]
    config: Config = Config()
    findings: dict[tuple[str, Span], Finding] = field(default_factory=dict)
    reach: tuple[int, ...] = ()
    resolve: Resolve | None = None
    imports: tuple[str, ...] = ()
    others: dict[str, Source] = field(default_factory=dict)
    origins: frozenset[Origin] = frozenset()
    removals: dict[tuple[str, Span], Fix] = field(default_factory=dict)
    walks: dict[Place, bool] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()
    is_imported: Callable[[str], bool] | None = None


@dataclass(frozen=True, slots=True)
class Hover:
    """Markdown about the expression at ``span``."""

    markdown: str
    span: Span


def analyse(
    text: str | Notebook,
    path: str = "<stdin>",
    config: Config = Config(),  # noqa: B008 (frozen)
    cancel: Callable[[], bool] | None = None,
    resolve: Resolve | None = None,
    memory: Memory | None = None,
    is_imported: Callable[[str], bool] | None = None,
) -> Report:
    """Execute ``text`` abstractly and report its hazards. Never raises but Cancelled, when ``cancel()`` turns true.

    ``resolve`` finds the text of a module that is imported (``workspace.Resolver`` does); without it every import is
    a library nobody knows. ``is_imported`` knows whether another file may import the one at a path; without it none
    does. With the ``memory`` of earlier texts of the same file under the same configuration only
    what has changed is executed, and the report of the text before is not to be used any more: its tree lives on in
    this one's.
    """
    program = Notebook(text, ()) if isinstance(text, str) else text
    memory = memory or Memory()
    source = parse(program.text, path, program.cells)
    try:
        return _analyse(source, config, cancel, resolve, memory.alone, memory, is_imported)
    except Cancelled:
        raise
    except Exception as error:
        memory.forget()
        lost = internal(path, "nothing was checked", fault_of(error))
        return Report(path, source, (), asdict(AnalysisStats(faults=1)), config, resolve=resolve, notices=(lost,))


def _analyse(
    source: Source,
    config: Config,
    cancel: Callable[[], bool] | None,
    resolve: Resolve | None,
    alone: dict[str, Alone] | None,
    memory: Memory | None = None,
    is_imported: Callable[[str], bool] | None = None,
) -> Report:
    """``analyse``; ``alone`` keeps what other files show by themselves, and is None where nobody asks for that."""
    if source.is_skipped or not concerns_torch(source.text, source.path, resolve):
        said, none = tuple(unparsed(source)), asdict(AnalysisStats())
        return Report(source.path, source, (), none, config, resolve=resolve, notices=said, is_imported=is_imported)
    memory = memory or Memory()
    machine = memory.resume(source, resolve, config)
    if machine is None:
        machine = made(source, Facts(), resolve=resolve)
        machine.facts.listeners.append(_observer(machine, config))
        memory.begin(machine, source, config)
    try:
        steps = executed(machine, cancel, memory)
    except Outdated:
        memory.forget()
        return _analyse(source, config, cancel, resolve, alone, memory)
    findings, reach = _noted(steps)
    imports = machine.imports
    files = Files(source, imports.sources if imports else ())
    by_place: dict[tuple[str, Span], Finding] = {}
    diagnostics: list[Diagnostic] = []
    origins = frozenset(map(files.origin, findings.values()))
    for finding in findings.values():
        if alone is not None and _is_shown_alone(finding, files, config, cancel, resolve, alone):
            continue
        diagnostic = files.diagnostic(finding)
        if diagnostic is not None:
            diagnostics.append(diagnostic)
            by_place[diagnostic.code, diagnostic.span] = finding
    seen = {(origin.code, origin.span.row) for origin in origins if origin.path == source.path}

    def is_certain() -> bool:
        complete = not source.problems and is_whole(machine, steps)
        return complete and not (is_imported is not None and is_imported(source.path))

    examined = FileSummary(
        source,
        frozenset(seen | {(diagnostic.code, diagnostic.span.row) for diagnostic in diagnostics}),
        frozenset(rule.code for rule in running(config) if rule.check),
        {rule.code: rule.name for rule in all_rules()},
        is_certain,
    )
    remarks = {} if alone is None else dict(files.remarks(examined, config.names))
    found = [*settle(diagnostics, source.suppressions), *remarks]
    return Report(
        source.path,
        source,
        settle(found, grade=lambda d: config.grade(d.code, d.severity, source.path)),
        asdict(machine.stats),
        config,
        by_place,
        tuple(reach.values()),
        resolve,
        tuple(imports.paths) if imports else (),
        {other.path: other for other in files.others},
        origins,
        {(diagnostic.code, diagnostic.span): fix for diagnostic, fix in remarks.items()},
        walked(steps),
        notices(files, steps, machine.stats.entries),
        is_imported,
    )


def _observer(machine: Machine, config: Config) -> Callable[[Event], None]:
    """Asks the rules about each event, and notes what they say with the step of the execution it belongs to."""
    subscribers: dict[type, list[Rule]] = {}
    for rule in running(config):
        for kind in rule.events:
            subscribers.setdefault(kind, []).append(rule)

    def observe(event: Event) -> None:
        if isinstance(event, BackwardRan):
            machine.notes.setdefault("reach", {}).setdefault(event.point.node, event.leaves)
            return
        for rule in subscribers.get(type(event), ()):
            try:
                found = rule.check(event, machine.facts) if rule.check else None
            except Cancelled:
                raise
            except Exception as error:
                machine.fail(Entry("event", event.point.node), error, rule.code)
                continue  # the execution goes on, and so do the other rules
            if found is not None:
                _gravest(machine.notes.setdefault("findings", {}), replace(found, raiser=event.point.node))

    return observe


def _gravest(findings: dict[tuple[str, ast.AST], Finding], found: Finding) -> None:
    known = findings.get((found.code, found.node))
    if known is None or SEVERITIES.index(found.severity) < SEVERITIES.index(known.severity):
        findings[found.code, found.node] = found


def _noted(steps: list[AnalysisUnit]) -> tuple[dict[tuple[str, ast.AST], Finding], dict[ast.AST, int]]:
    """What was noted in all steps: the findings, and how many leaves the first backward at each place reached."""
    findings: dict[tuple[str, ast.AST], Finding] = {}
    reach: dict[ast.AST, int] = {}
    for step in steps:
        for found in step.notes.get("findings", {}).values():
            _gravest(findings, found)
        for node, leaves in step.notes.get("reach", {}).items():
            reach.setdefault(node, leaves)
    return findings, reach


def running(config: Config) -> list[Rule]:
    """The rules to ask. What is on by default is asked even where it is not wanted: a fix must not bring it about."""
    return [rule for rule in all_rules() if rule.default or config.wants(rule.code, rule.default)]


@dataclass(frozen=True, slots=True)
class Alone:
    """The hazards that a file shows when it is checked by itself, and what its imports meant then."""

    text: str
    imports: dict[tuple[str, str], tuple[str, str] | None]
    origins: frozenset[Origin]


def _is_shown_alone(
    finding: Finding,
    files: Files,
    config: Config,
    cancel: Callable[[], bool] | None,
    resolve: Resolve | None,
    alone: dict[str, Alone],
) -> bool:
    """Whether one of the other files that a hazard is in shows it when it is checked by itself."""
    origin = None
    for path, other in files.owners(finding).items():
        origin = origin or files.origin(finding)
        if origin.path == files.main.path:
            return False
        if stub_module_name(path) is not None:
            continue  # by itself it has no hazards
        known = alone.get(path)
        if known is None or known.text != other.text or any(resolve(*k) != v for k, v in known.imports.items()):
            asked: dict[tuple[str, str], tuple[str, str] | None] = {}

            def noting(module: str, importer: str, asked: dict = asked) -> tuple[str, str] | None:
                found = asked[module, importer] = resolve(module, importer) if resolve else None
                return found

            shown = _analyse(parse(other.text, path), config, cancel, noting, None).origins
            known = alone[path] = Alone(other.text, asked, shown)
        if any(shown.covers(origin) for shown in known.origins):
            return True
    return False


def run(
    source: Source,
    facts: Facts,
    cancel: Callable[[], bool] | None = None,
    probe: Callable | None = None,
    resolve: Resolve | None = None,
) -> Machine:
    """Execute ``source`` over ``facts``."""
    machine = made(source, facts, probe, resolve)
    executed(machine, cancel)
    return machine


def made(source: Source, facts: Facts, probe: Callable | None = None, resolve: Resolve | None = None) -> Machine:
    """A machine that is ready to execute ``source``."""
    machine = Machine(facts, source.tree, probe=probe)
    machine.cells = source.cells
    if resolve is not None:
        machine.imports = Imports(machine, source, resolve)
    return machine


def executed(
    machine: Machine, cancel: Callable[[], bool] | None = None, memory: Memory | None = None
) -> list[AnalysisUnit]:
    """Execute the file of ``machine``; the steps it took."""
    machine.cancel = cancel
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, FRAMES))
    try:
        return execute(machine, memory)
    finally:
        sys.setrecursionlimit(limit)


def fixes(report: Report, diagnostic: Diagnostic, cancel: Callable[[], bool] | None = None) -> tuple[Fix, ...]:
    """The fixes of a finding, best first. Each was made and analysed: the hazard is gone and there is no new one."""
    from ..fixes import edits_for

    place = diagnostic.code, diagnostic.span
    if place in report.removals:
        return (report.removals[place],)
    finding = report.findings.get(place)
    if finding is None:
        return ()
    found: list[tuple[int, int, Fix]] = []
    seen: set[object] = set()
    for cure in sorted(finding.cures, key=lambda c: c.applicability):
        if not all(map(_is_in(report), cure.targets)):
            continue  # an edit of another file: the user would not see what is done there
        made = edits_for(report.source, cure)
        if made is None or made in seen:
            continue
        seen.add(made)
        after = edited(report, made, cancel)
        is_safe, more = cure.applicability == "safe", 0
        while not (good := cures(report, diagnostic, after, is_safe or more > 0)) and more < MORE:
            again = next(
                (e for c in likewise(report, diagnostic, after, cure) if (e := edits_for(after.source, c))), None
            )
            if again is None:
                break
            after, more = edited(after, again, cancel), more + 1
        if good:
            title = f"{cure.title}, and {more} more like it" if more else cure.title
            made = difference(report.source.text, after.source.text) if more else made
            fix = Fix(title if is_safe else f"{title} [unsafe]", cure.applicability, False, made)
            found.append((uncovered(report, after), more, fix))
    found.sort(key=lambda each: each[:2])
    return tuple(replace(fix, preferred=index == 0) for index, (*_, fix) in enumerate(found))


def edited(report: Report, edits: Iterable[Edit], cancel: Callable[[], bool] | None = None) -> Report:
    """What is reported of the text that ``edits`` make."""
    edits, source = tuple(edits), report.source
    text = apply(source.text, edits)
    program = Notebook(text, moved(source.cells, edits)) if source.cells else text
    return analyse(program, report.path, report.config, cancel, report.resolve, is_imported=report.is_imported)


def _is_in(report: Report) -> Callable[[ast.AST], bool]:
    return report.source.holds if report.others else lambda node: True


def hover(report: Report, row: int, column: int, cancel: Callable[[], bool] | None = None) -> Hover | None:
    """What is known of the expression at ``row``, ``column``: its life as a tensor, or the story of a diagnostic
    there.
    """
    from ..hover import describe

    return describe(report, row, column, cancel)
