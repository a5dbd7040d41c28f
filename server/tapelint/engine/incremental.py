"""Incremental analysis: units of the execution, and which of them are still valid after an edit.

    import torch                      the script, a part at a time
    model, opt = build()              the next part of the script: depends on `build`
    def train(model): ...             an entry point, because no code calls it: depends on `train`
    class Trainer:
        def __init__(self): ...       the object whose methods run, made once for the class: depends on `__init__`
        def fit(self): ...            an entry point that begins with that object: depends on `fit`

A unit begins with the states and facts in which another unit ended (the part of the script above it, the end of the
script, the object) and knows nothing of the units beside it. While it runs, it records the definitions whose body it
reads. After an edit the tree is the old one with new bodies in it (``source.tree_reuse``). A unit is still valid if
those that it builds on are, none of its dependencies has a new body, and the script is the same up to where the unit
ends, which may be in the middle of a function (``resume_point``). Nothing is guessed: what depends on code that is not
executed asks ``Machine.query``, which is valid while the answer is the same, or adds the definition to
``AnalysisUnit.dependencies``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

from ..autograd import Facts
from ..domain.state import State
from ..source import Source, TreeDiff, reuse_tree
from ..stubs import Resolve, with_stubs
from .analysis_unit import AnalysisUnit
from .machine import Machine, Place, place_of
from .module_system import LoadedModule, ModuleSystem
from .statistics import AnalysisStats

EntryKey: TypeAlias = tuple[str, ast.AST | None, int, frozenset[str] | None]
"""The kind of an entry point, its definition, the heap id of the class (0 for none), and the parameters to which
callers lead graphs (None without callers); or the switch that an object is made with (``switch=``), or the function
that is called next (``train()``).
"""


@contextmanager
def recorded(
    machine: Machine, facts: Facts, loads: Iterable[LoadedModule], limit: int, before: AnalysisUnit | None = None
) -> Iterator[AnalysisUnit]:
    """Run what is below as a unit of its own, with these facts and ``limit`` fuel. In the script it goes on where the
    unit ``before`` ended.
    """
    modules = dict.fromkeys(loads)
    unit = AnalysisUnit(facts, modules, limit) if before is None else before.successor(facts, modules, limit)
    with machine.running(unit):
        yield unit


@dataclass(slots=True)
class AnalysisCache:
    """The units of a document's last analysis."""

    # Whether there will be a next analysis: then what units begin with is forked, not used up.
    persistent: bool = False
    # What else the analysis depends on, such as the configuration.
    config_key: object = None
    # What other files show when they are checked by themselves, by path.
    standalone_results: dict[str, Any] = field(default_factory=dict)
    # The machine that ran the last analysis, and the text that it ran.
    machine: Machine | None = None
    source: Source | None = None
    # The parts of the script, in order.
    script: list[AnalysisUnit] = field(default_factory=list)
    # What is reported at the end of the script.
    finish: AnalysisUnit | None = None
    # The objects whose methods run, and the functions without a caller that have run, alone or with tensors that
    # require grad: each by what it is (`EntryKey`).
    entries: dict[EntryKey, AnalysisUnit] = field(default_factory=dict)

    def forget(self) -> None:
        """Begin anew."""
        self.machine = self.source = self.finish = None
        self.script, self.entries = [], {}

    def resume(self, source: Source, resolve: Resolve | None, under: object = None) -> Machine | None:
        """The machine that ran an older text of ``source``, its tree edited and the steps forgotten that have read
        what is new; None where nothing is left.
        """
        machine, old = self.machine, self.source
        if machine is None or old is None:
            return None
        self.source = None
        same = not source.cells and under == self.config_key and _same_modules(machine.imports, resolve)
        found = reuse_tree(old, source) if same else None
        if found is None:
            self.forget()
            return None
        self.source, machine.tree = source, source.tree
        machine.unit.queries.clear()  # what was asked between the units, of the old text
        self._forget_outdated(found, source.tree)
        if machine.imports is not None and resolve is not None:
            machine.imports.resume(source, resolve)
            kept = [*self.script, self.finish] if self.finish is not None else self.script
            if not all(map(machine.imports.repeat, kept)):
                self.forget()
                return None
        return machine

    def _forget_outdated(self, found: TreeDiff, tree: ast.Module) -> None:
        """Keep of the script the steps before the first that has read what is new, and of the rest those that have
        not: the rest builds on the whole script.
        """
        whole = len(self.script)
        for index, stretch in enumerate(self.script):
            if not stretch.is_valid_after(found):
                del self.script[index:]
                break
        is_whole = len(self.script) == whole and found.keeps(tree, "body", len(tree.body))
        if not is_whole or self.finish is None or not self.finish.is_valid_after(found):
            self.finish, self.entries = None, {}
        self.entries = {key: step for key, step in self.entries.items() if step.is_valid_after(found)}

    def begin(self, machine: Machine, source: Source, under: object = None) -> None:
        """``machine`` is about to execute a text."""
        self.forget()
        if under != self.config_key:
            self.standalone_results, self.config_key = {}, under
        if self.persistent and not source.cells:
            self.machine, self.source = machine, source

    def facts(self, step: AnalysisUnit) -> Facts:
        """The facts that a step ended with, for another one to go on with."""
        facts = step.facts
        assert facts is not None, "a step that has ended has facts"
        return facts.fork() if self.persistent else facts

    def paths(self, states: list[State]) -> list[State]:
        """The paths that a step ended in, for another one to go on with."""
        return [state.fork() for state in states] if self.persistent else states


def _same_modules(imports: ModuleSystem | None, resolve: Resolve | None) -> bool:
    """Whether all that was imported is still what it was."""
    if imports is None or resolve is None:
        return imports is None and resolve is None
    find = with_stubs(resolve)
    return imports.is_whole and all(find(*key) == found for key, found in imports.lookups.resolved.items())


def complete(steps: Iterable[AnalysisUnit]) -> Iterator[AnalysisUnit]:
    """The steps, those that ran the imported modules included."""
    seen: dict[LoadedModule, None] = {}
    for step in steps:
        for module in step.loads:
            if module not in seen:
                seen[module] = None
                yield module.step
        yield step


def total(steps: Iterable[AnalysisUnit]) -> AnalysisStats:
    """What all steps have counted."""
    found = dict.fromkeys(COUNTED, 0)
    for step in steps:
        for name in COUNTED:
            found[name] += getattr(step.stats, name)
        found["steps"] += step.fuel_used
    return AnalysisStats(**found)


COUNTED = tuple(each.name for each in fields(AnalysisStats))


def walked(steps: Iterable[AnalysisUnit]) -> dict[Place, bool]:
    """Where the program goes backward, and whether the root was once known to carry a graph."""
    found: dict[Place, bool] = {}
    for step in steps:
        for (path, node), rooted in step.backward_sites.items():
            place = place_of(path, node)
            found[place] = found.get(place, False) or rooted
    return found
