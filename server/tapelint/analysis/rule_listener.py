"""The rules listen: each event is shown to those that asked for its kind; what they find is kept with the unit."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ..autograd.events.graph_walks import BackwardRan, Event
from ..interpreter import AnalysisUnit, Cancelled, Entry, Machine
from ..rules import Finding, Rule, all_rules
from ..workspace.config import Config


@dataclass(slots=True)
class UnitFindings:
    """What was found in one unit, or in several."""

    # The gravest finding of each rule at each node.
    findings: dict[tuple[str, ast.AST], Finding] = field(default_factory=dict)
    # How many leaves the first backward at each node reached.
    reach: dict[ast.AST, int] = field(default_factory=dict)

    def add(self, found: Finding) -> None:
        known = self.findings.get((found.code, found.node))
        if known is None or found.severity < known.severity:
            self.findings[found.code, found.node] = found

    def merge_from(self, other: UnitFindings) -> None:
        for found in other.findings.values():
            self.add(found)
        for node, leaves in other.reach.items():
            self.reach.setdefault(node, leaves)


def found_in(units: Iterable[AnalysisUnit]) -> UnitFindings:
    """What was found in all of them."""
    total, walks = UnitFindings(), set[ast.AST]()
    for unit in units:
        total.merge_from(unit.notes.of(UnitFindings))
        walks.update(node for _, node in unit.backward_sites)
    for key, found in [*total.findings.items()]:
        is_certain = found.everywhere and found.point.premise is None
        if is_certain and found.point.node in walks or (found.unless, found.node) in total.findings:
            del total.findings[key]
    return total


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
            self.machine.unit.notes.of(UnitFindings).reach.setdefault(event.point.node, len(event.reached))
            return
        for rule in self.by_kind.get(type(event), ()):
            found = self._run(rule, event)
            if found is not None:
                found = replace(found, code=rule.code, raiser=event.point.node, premise=event.assumption)
                self.machine.unit.notes.of(UnitFindings).add(found)

    def _run(self, rule: Rule, event: Event) -> Finding | None:
        """What a rule finds. If it fails, the execution and the other rules go on."""
        try:
            return rule.check(event, self.machine.facts) if rule.check else None
        except Cancelled:
            raise
        except Exception as error:
            self.machine.fail(Entry("event", event.point.node), error, rule.code)
            return None
