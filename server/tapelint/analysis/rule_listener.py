"""The rules listen: each event is shown to those that asked for its kind; what they find is kept with the unit."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace

from ..autograd.events.graph_walks import BackwardRan, Event
from ..autograd.gradients.withheld import Fates
from ..autograd.model.cuts import Withheld
from ..because import Because, RunBy
from ..engine.analysis_unit import AnalysisUnit
from ..engine.machine import Cancelled, Machine
from ..engine.paths.abandoned import AbandonedPaths
from ..engine.statistics import Entry
from ..frozen import frozen
from ..rules import Finding, Rule, all_rules
from ..severity import Severity
from ..workspace.config import Config
from .grade import Judgement, Untold, judge, wherever_reached


@dataclass(slots=True)
class UnitFindings:
    """What was found in one unit, or in several."""

    # What each rule found at each node, by what the program is supposed to do for it.
    found: dict[tuple[str, ast.AST], dict[Supposed, Finding]] = field(default_factory=dict)
    # How many leaves the first backward at each node reached: where the program runs it, and where only a caller that
    # was imagined does; and how many more it would have, but for a cut.
    reach: dict[ast.AST, int] = field(default_factory=dict)
    imagined: dict[ast.AST, int] = field(default_factory=dict)
    missed: dict[ast.AST, int] = field(default_factory=dict)
    # All leaves that a backward has reached, and those that one has where the program runs it.
    trained: set[int] = field(default_factory=set)
    trained_by_program: set[int] = field(default_factory=set)

    def add(self, found: Finding) -> None:
        here = self.found.setdefault((found.code, found.node), {})
        known = here.get(supposed := (found.severity, found.because, found.point.supposed, found.run_by))
        here[supposed] = found if known is None else replace(known, guard=known.guard.either(found.guard))

    def merge_from(self, other: UnitFindings) -> None:
        for here in other.found.values():
            for found in here.values():
                self.add(found)
        for node, leaves in other.reach.items():
            self.reach.setdefault(node, leaves)
        for node, leaves in other.imagined.items():
            self.imagined.setdefault(node, leaves)
        for node, leaves in other.missed.items():
            self.missed.setdefault(node, leaves)
        self.trained |= other.trained
        self.trained_by_program |= other.trained_by_program

    def judged(
        self, abandoned: AbandonedPaths, is_of_tests: Callable[[Finding], bool], walks: Collection[ast.AST]
    ) -> Judgement:
        """What becomes of it beside ``abandoned`` paths, where there is a backward at each of ``walks``.
        ``is_of_tests`` says whether a finding stands in a file of tests.
        """
        return judge({place: here.values() for place, here in self.found.items()}, abandoned, is_of_tests, walks)


Supposed = tuple[Severity, Because, Because, RunBy]
"""How grave a finding is, what its event rests on, what its path supposes and what runs it."""


@frozen
class Noted:
    """What an analysis found, how many leaves the first backward at each node reached (in the program, and where only
    a caller that was imagined runs it), how many more it ``missed`` for a cut, and how many any did: all of them, and
    those that the program runs. ``fates``
    are those of what cuts have kept from leaves, and what is ``untrained`` of it gets no gradient at all."""

    findings: dict[tuple[str, ast.AST], Finding]
    untold: tuple[Untold, ...]
    reach: dict[ast.AST, int]
    imagined: dict[ast.AST, int]
    missed: dict[ast.AST, int]
    trained: int
    trained_by_program: int
    fates: Fates

    untrained: frozenset[Withheld]

    def uncut(self, reach: dict[ast.AST, int]) -> tuple[int, ...]:
        """How many leaves there would be without any cut."""
        return tuple(leaves + self.missed[node] for node, leaves in reach.items())


def found_in(
    units: Iterable[AnalysisUnit],
    is_of_tests: Callable[[Finding], bool],
    is_refuted: Callable[[ast.AST, AnalysisUnit], bool] = lambda function, unit: False,
) -> Noted:
    """What was found in all of them, with what its paths have chosen; ``is_of_tests`` as for ``UnitFindings``. Nothing
    counts of what a function shows to a caller that is imagined if that ``is_refuted``: its callers are others.
    """
    total, walks, abandoned, fates = UnitFindings(), set[ast.AST](), AbandonedPaths(), Fates()
    for unit in units:
        own = unit.notes.record(UnitFindings)
        alone = unit.function if own.found and unit.run_by is RunBy.IMAGINED else None
        if alone is not None and is_refuted(alone, unit):
            continue
        abandoned.merge_from(unit.notes.record(AbandonedPaths))
        total.merge_from(own)
        fates.merge_from(unit.notes.record(Fates))
        walks.update(node for _, node in unit.backward_sites)
    judged = total.judged(abandoned, is_of_tests, walks)
    imagined = {node: leaves for node, leaves in total.imagined.items() if node not in total.reach}
    trained, by_program = len(total.trained), len(total.trained_by_program)
    untrained = frozenset(each for each in fates.withheld if each.leaf not in total.trained)
    return Noted(judged.told, judged.untold, total.reach, imagined, total.missed, trained, by_program, fates, untrained)


def running(config: Config) -> list[Rule]:
    """The rules to run. Disabled default rules run too, so that a fix cannot introduce their findings."""
    return [rule for rule in all_rules() if rule.default or config.wants(rule.code, rule.default)]


class RuleListener:
    """Runs the rules on the events of one machine."""

    def __init__(self, machine: Machine, config: Config) -> None:
        self.machine = machine
        self.by_kind: dict[type[Event], list[Rule]] = {}
        for rule in running(config):
            for kind in rule.events:
                self.by_kind.setdefault(kind, []).append(rule)

    def hear(self, event: Event) -> None:
        if isinstance(event, BackwardRan):
            notes = self.machine.unit.notes.record(UnitFindings)
            is_imagined = self.machine.unit.run_by is RunBy.IMAGINED
            reach = notes.imagined if is_imagined else notes.reach
            reach.setdefault(event.point.node, len(event.reached))
            missed = {each.leaf for each in event.withheld}.difference(event.reached)
            notes.missed.setdefault(event.point.node, len(missed))
            fates = self.machine.unit.notes.record(Fates)
            fates.withheld |= event.withheld
            if not event.accumulates:
                fates.used |= event.withheld  # what the call returns
            notes.trained.update(event.reached)
            notes.trained_by_program.update(() if is_imagined else event.reached)
            return
        for rule in self.by_kind.get(type(event), ()):
            found = self._run(rule, event)
            if found is not None:
                found = replace(
                    found,
                    because=found.because or event.because,
                    code=rule.code,
                    raiser=event.point.node,
                    guard=event.point.guard,
                    run_by=self.machine.unit.run_by,
                )
                notes = self.machine.unit.notes.record(UnitFindings)
                notes.add(found)
                if (anywhere := wherever_reached(found)) is not None:
                    notes.add(anywhere)

    def _run(self, rule: Rule, event: Event) -> Finding | None:
        """What a rule finds. If it fails, the execution and the other rules go on."""
        try:
            return rule.check(event, self.machine.facts) if rule.check else None
        except Cancelled:
            raise
        except Exception as error:
            self.machine.fail(Entry("event", event.point.node), error, rule.code)
            return None
