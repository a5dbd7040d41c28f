"""Where execution starts: the module as a script, then every function that nothing called.

What a function without a caller is given is said in ``arguments``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Set
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import product
from operator import itemgetter
from typing import Literal

from ..because import RunBy, option
from ..domain.state import State
from ..domain.values import Const, Function, HeapRef, Instance, Value
from ..engine.analysis_unit import AnalysisUnit
from ..engine.given_graphs import given_graphs
from ..engine.incremental import AnalysisCache, complete, recorded, total, walked
from ..engine.limits import Limits
from ..engine.machine import Machine
from ..engine.statistics import AnalysisStats, Entry, Lost
from ..frozen import frozen
from ..models.torch.autograd.grad_mode import turns_off
from ..modules.loader import Outdated
from ..source import may_use_torch
from .arguments import make_instance
from .candidates import (
    NON_TRAINING,
    TRAINS,
    Candidate,
    definition_of,
    is_round,
    is_run_by_tests,
    is_worth_imagining,
    priority,
    unreached_functions,
)
from .imagined_calls import call_after, functions_of, imagine_apply, imagined_call, run_entry
from .notebook_cells import Ran, run_again
from .object_state import switches
from .script import certain_end, end_of_script, enter, facts_after, is_stopped, run_script
from .test_functions import is_test_class

Kind = Literal["object", "function", "latent", "switched", "turn"]
BESIDES: tuple[Kind, ...] = ("latent", "switched", "turn")
"""What is run for what it shows alone."""


@dataclass
class Budget:
    """The fuel that is left for functions without a caller."""

    # For one of them.
    each: int
    # For all that are left.
    together: int
    # For one of them once the common budget is used, and for all of those.
    late: int = 0
    reserve: int = 0

    @property
    def next(self) -> int:
        """The fuel that the next one may use."""
        return max(min(self.each, self.together), min(self.late, self.reserve), 0)

    def narrow(self, limits: Limits) -> None:
        """From here on come functions that do not train: they are given less."""
        if self.each > limits.idle_entry_fuel:
            self.each, self.together = limits.idle_entry_fuel, min(self.together, limits.all_idle_entries_fuel)

    def paid(self, step: AnalysisUnit) -> AnalysisUnit:
        """A step that took its share."""
        common = min(step.fuel_used, max(self.together, 0))
        self.together -= common
        self.reserve -= step.fuel_used - common
        return step


@frozen
class Driven:
    """A function without a caller that has run, its urgency, and the unit in which it did."""

    rank: int
    function: Function
    unit: AnalysisUnit

    @property
    def called(self) -> Set[ast.AST]:
        """What it has called."""
        return self.unit.called - {self.function.node}


def execute(machine: Machine, memory: AnalysisCache | None = None) -> list[AnalysisUnit]:
    """Run the whole file, or what ``memory`` does not know of it; the steps it consists of, in order.

    A fault in one entry point never keeps the others from running.
    """
    memory = memory or AnalysisCache()
    limits = machine.limits
    limit, together = limits.script_fuel, limits.all_entries_fuel
    if machine.imports is not None and not may_use_torch(machine.imports.main.text):
        limit = together = limits.torch_free_fuel
    budget = Budget(limits.entry_fuel, together, limits.late_entry_fuel, min(limits.all_late_entries_fuel, together))
    ran: list[Ran] = []
    steps = [*run_script(machine, memory, limit, ran), finish := end_of_script(machine, memory)]
    entries = EntryPoints(machine, memory, finish, steps)
    entries.run_all(budget)
    entries.switch_over(Budget(limits.idle_entry_fuel, limits.all_idle_entries_fuel))
    with recorded(machine, facts_after(finish), finish.loads, 0) as again:
        run_again(machine, ran, partial(enter, machine, []))
    steps.append(again)
    latent = Budget(limits.latent_fuel, limits.all_latent_fuel)
    entries.call_in_turn(latent)
    entries.give_graphs(latent)
    machine.frozen_contents.clear()
    return _counted(machine, steps)


class EntryPoints:
    """The functions that nothing calls, at the end of the script; what runs them is added to ``steps``."""

    def __init__(
        self, machine: Machine, memory: AnalysisCache, finish: AnalysisUnit, steps: list[AnalysisUnit]
    ) -> None:
        self.machine, self.memory, self.finish, self.steps = machine, memory, finish, steps
        self.state, self.module = finish.result
        self.script = set[ast.AST]().union(*(step.called for step in steps if step.is_script))
        trees = machine.tree, *(module.source.tree for module in finish.loads)
        found = unreached_functions(machine, self.state, self.module, finish.loads)
        nodes = ((candidate, candidate.parts or (candidate.function.node,)) for candidate in found)
        ranked = [(min(priority(node, trees) for node in parts), candidate) for candidate, parts in nodes]
        self.ranked = sorted(ranked, key=itemgetter(0))
        self.driven: list[Driven] = []
        self.objects = dict[tuple[int, tuple[str, Const] | None], AnalysisUnit]()

    def run_all(self, budget: Budget) -> None:
        """Run each that none before it has called."""
        machine, before = self.machine, None
        called = set(machine.untried).union(*(step.called for step in self.steps))
        for rank, candidate in self.ranked:
            machine.check_cancelled()
            node = candidate.function.node
            if candidate.is_reached(called) and node is not before:
                continue  # one after the other it runs on objects of several classes
            before = node
            if rank == NON_TRAINING:
                budget.narrow(machine.limits)
            self._count(candidate, budget)
            if budget.next:
                base = self._base(candidate, budget)
                run = partial(run_entry, machine, base.result, candidate.function, candidate.owner)
                unit = self._run("function", candidate, base, budget, run)
                called |= base.called | unit.called
                self.driven.append(Driven(rank, candidate.function, unit))

    def switch_over(self, budget: Budget) -> None:
        """Run the methods that ask for a switch of ``__init__`` once more, on objects that are made with it the other
        way, as long as the fuel for that lasts.
        """
        machine, ran = self.machine, {each.function.node for each in self.driven}
        for rank, candidate in self.ranked:
            function, owner = candidate.function, candidate.owner
            if owner is None or function.kind or rank == NON_TRAINING or function.node not in ran:
                continue
            if not is_run_by_tests(machine, self.state, function, owner):
                for switch in switches(machine, self.state, owner, function).items():
                    machine.check_cancelled()
                    self._switch(candidate, owner, budget, switch)

    def _switch(self, candidate: Candidate, owner: HeapRef, budget: Budget, switch: tuple[str, Const]) -> None:
        """Run a method on an object that is made with a ``switch``."""
        base = self._base(candidate, budget, switch) if budget.together > 0 else self.finish
        made = base.result if base is not self.finish else None
        if made is None or made[0].get(made[1].id, Instance).is_partial:
            return
        given = self.machine, made, candidate.function, owner
        self._run("switched", candidate, base, budget, partial(run_entry, *given), frozenset(switch[:1]))
        if is_worth_imagining(self.machine, self.state, candidate.function, owner, self.finish.loads):
            run = partial(imagined_call, *given, None)
            self._run("latent", candidate, base, budget, run, frozenset((f"{switch[0]}=",)))

    def give_graphs(self, budget: Budget) -> None:
        """Call functions as a caller might whose tensors require grad, as long as the fuel for that lasts; not those
        that the script has called, or what trains calls: there the arguments are known. What goes backward itself has
        no caller that does. Where others have called a function, only what they may give a graph to requires grad.
        """
        machine, ran = self.machine, [*self.steps]
        self._apply_functions(budget)
        known = self.script.union(*(each.called for each in self.driven if each.rank == TRAINS))
        for rank, candidate in self.ranked:
            machine.check_cancelled()
            function, owner = candidate.function, candidate.owner
            if budget.together <= 0 or function.node in known or rank == TRAINS:
                continue
            if is_worth_imagining(machine, self.state, function, owner, self.finish.loads):
                own = [each.unit for each in self.driven if each.function.node is function.node]
                led = given_graphs(function.node, [unit for unit in ran if unit not in own])
                base = self._base(candidate, budget)
                run = partial(imagined_call, machine, base.result, function, owner, led)
                self._run("latent", candidate, base, budget, run, led)

    def _apply_functions(self, budget: Budget) -> None:
        """Apply each Function whose backward no pass has reached."""
        known = self.script.union(*(each.called for each in self.driven))
        for kind, backward in functions_of(self.state, self.module):
            if budget.together > 0 and backward.node not in known:
                run = partial(imagine_apply, self.machine, self.state.fork(), kind)
                self._run("latent", Candidate(backward, kind), self.finish, budget, run)

    def call_in_turn(self, budget: Budget) -> None:
        """Call what is a round of training after what leaves gradients off, on the same object."""
        off = [each for _, each in self.ranked if self.machine.query(turns_off, each.function.node)]
        rounds = [each for rank, each in self.ranked if rank == TRAINS and is_round(each.function.node)] if off else []
        for before, after in product(off, rounds):
            together = before.function.node is not after.function.node and before.owner == after.owner
            if together and budget.together > 0 and before.function.node not in self.script:
                base = self._base(after, budget)
                if base.result is not None:
                    run = partial(call_after, self.machine, base.result, after.function, before.function, after.owner)
                    self._run(
                        "turn", before, base, budget, run, frozenset((f"{definition_of(after.function).name}()",))
                    )

    def _base(self, candidate: Candidate, budget: Budget, switch: tuple[str, Const] | None = None) -> AnalysisUnit:
        """What a function begins with: the end of the script, or the object of its class, which is made if need be and
        only once, and once more with a ``switch``. A class that spends the budget of one entry point on that is not
        made again for its other methods.
        """
        owner = candidate.owner
        if owner is None or candidate.function.kind in ("static", "class"):
            return self.finish
        key = owner.id, switch
        if key not in self.objects:
            made: list[tuple[State, HeapRef]] = []

            def make() -> list[State]:
                state, given = self.state.fork(), dict[str, Value]()
                if switch is not None:
                    given[switch[0]] = switch[1]
                    state.supposed = option(f"`{switch[0]}` is {switch[1].value}")
                made.append((state, make_instance(self.machine, state, owner, state.heap[owner.id].node, given)))
                return []

            led = None if switch is None else frozenset(switch[:1])
            unit = self.objects[key] = self._run("object", candidate, self.finish, budget, make, led)
            if made:
                unit.result = made[0]
        return self.objects[key]

    def _run(
        self,
        kind: Kind,
        candidate: Candidate,
        base: AnalysisUnit,
        budget: Budget,
        run: Callable[[], list[State]],
        led: frozenset[str] | None = None,
    ) -> AnalysisUnit:
        """Run an entry point of a ``kind``, unless the unit of the last analysis would be the same."""
        machine, owner = self.machine, candidate.owner
        node = None if kind == "object" else candidate.function.node
        is_extra = _is_extra(kind, led)
        key = kind, node, owner.id if owner is not None else 0, led
        unit = self.memory.entries.get(key)
        if unit is not None and unit.base is base and unit.is_valid_within(budget.next):
            if machine.imports is not None and not machine.imports.repeat(unit):
                raise Outdated  # what an older text's unit looked up in other files must be what it was
        else:
            with recorded(machine, facts_after(base).fork(), base.loads, budget.next) as unit:
                unit.base = base
                self._record(kind, candidate, unit, run, is_extra)
            if is_extra:  # it is no entry point: nothing of it counts, and nothing is lost with it
                unit.stats, unit.backward_sites = AnalysisStats(faults=unit.stats.faults), {}
                unit.unfollowed = [lost for lost in unit.unfollowed if lost.fault is not None]
            if kind in BESIDES or kind == "function" and machine.probe is None:
                unit.facts = None
            self.memory.entries[key] = unit
        self.steps.append(budget.paid(unit))
        return unit

    def _record(
        self,
        kind: Kind,
        candidate: Candidate,
        unit: AnalysisUnit,
        run: Callable[[], list[State]],
        is_extra: bool,
    ) -> None:
        """Run an entry point as a ``unit``."""
        machine, base, entry = self.machine, unit.base, self._named(kind, candidate)
        assert base is not None
        function, owner, unit.run_by = candidate.function, candidate.owner, RunBy.IMAGINED
        unit.is_latent = kind == "latent"
        if kind != "object":
            unit.function = function.node
            unit.dependencies.add(function.node)
        if kind == "function" and is_run_by_tests(machine, self.state, function, owner):
            unit.run_by = RunBy.TESTS
        if kind == "object" and owner is not None and is_test_class(machine, self.state, owner):
            unit.run_by = RunBy.TESTS
        if base.result is None and kind == "function":
            machine.unit.stats.out_of_fuel += 1
            machine.unit.is_exhausted = True
            machine.give_up(Lost(entry, begun=False))
        elif base.result is not None:
            with machine.detached() if is_extra else nullcontext():
                ends = enter(machine, [], entry, run)
            if kind == "function":
                unit.stats.stopped += is_stopped(ends)
                unit.ended = certain_end(ends) or unit.ended

    def _named(self, kind: Kind, candidate: Candidate) -> Entry:
        owner = None if candidate.owner is None else self.state.heap[candidate.owner.id].node
        return Entry(kind, owner) if kind == "object" else Entry(kind, candidate.function.node, owner)

    def _count(self, candidate: Candidate, budget: Budget) -> None:
        """Count an entry point, and say that it was not begun where nothing is left for it."""
        with recorded(self.machine, self.machine.facts, (), 0) as step:
            step.stats.entries += 1
            if not budget.next:
                step.stats.out_of_fuel += 1
                self.machine.give_up(Lost(self._named("function", candidate), begun=False))
        self.steps.append(step)


def _is_extra(kind: Kind, led: frozenset[str] | None) -> bool:
    """Whether an entry point of a ``kind`` is run besides: a call with graphs, or what a switch was made for."""
    return kind in BESIDES or kind == "object" and led is not None


def _counted(machine: Machine, steps: list[AnalysisUnit]) -> list[AnalysisUnit]:
    """All steps, those of imported modules before the first that may use them; the machine knows what all have
    counted, and what they have learnt if some code watches it.
    """
    found = list(complete(steps))
    ended: set[ast.AST] = set()
    for step in found:
        ended |= step.completed_functions
        if machine.probe is not None and step.facts is not None and step.facts is not machine.facts:
            machine.facts.merge_from(step.facts)
    holes = machine.unit.stats = total(found)
    own = "" if machine.imports is None else machine.imports.main.path
    here = [rooted for (path, *_), rooted in walked(found).items() if path == own]
    holes.backward_sites, holes.known_roots = len(here), sum(here)
    for statement in machine.tree.body:
        for method in statement.body if isinstance(statement, ast.ClassDef) else ():
            if isinstance(method, ast.FunctionDef) and method.name == "forward":
                holes.forwards += 1
                holes.ended += method in ended
    return found
