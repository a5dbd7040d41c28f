"""Where execution starts: the module as a script, then every function that nothing called.

What a function without a caller is given is said in ``arguments``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Set
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import Literal

from ..autograd import Facts
from ..autograd.model.choices import ALWAYS
from ..because import RunBy
from ..domain.completion import ProgramRaised, Raise
from ..domain.state import State
from ..domain.values import Const, Frame, Function, HeapRef, Unknown, Value
from ..engine.analysis_unit import AnalysisUnit
from ..engine.given_graphs import given_graphs
from ..engine.incremental import AnalysisCache, complete, recorded, total, walked
from ..engine.lifecycle import PathEnded
from ..engine.limits import Limits
from ..engine.machine import Cancelled, Machine, OutOfFuel
from ..engine.resume_point import Block
from ..engine.run_context import RunContext
from ..engine.statistics import AnalysisStats, Ended, Entry, Lost
from ..frozen import frozen
from ..modules.loader import Outdated
from ..source import may_use_torch
from .arguments import make_instance
from .caller import imagined_call, run_entry
from .candidates import (
    NON_TRAINING,
    TRAINS,
    Candidate,
    is_run_by_tests,
    is_worth_imagining,
    priority,
    unreached_functions,
)
from .graph_caller import functions_of, imagine_apply
from .notebook_cells import Ran, run_again, run_cells
from .segments import is_done, run_segment
from .test_functions import is_test_class


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
    steps = [*_script(machine, memory, limit, ran), finish := _finished(machine, memory)]
    entries = EntryPoints(machine, memory, finish, steps)
    entries.run_all(budget)
    with recorded(machine, _facts(finish), finish.loads, 0) as again:
        run_again(machine, ran, partial(_entered, machine, []))
    steps.append(again)
    entries.give_graphs(Budget(limits.latent_fuel, limits.all_latent_fuel))
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
        ranked = [(priority(candidate.function.node, trees), candidate) for candidate in found]
        self.ranked = sorted(ranked, key=itemgetter(0))
        self.driven: list[Driven] = []
        self.objects = dict[int, AnalysisUnit]()

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

    def give_graphs(self, budget: Budget) -> None:
        """Call functions as a caller might whose tensors require grad, as long as the fuel for that lasts; not those
        that the script has called, or what trains: there the arguments are known. Where others have called a function,
        only what they may give a graph to requires grad.
        """
        machine, ran = self.machine, [*self.steps]
        known = self.script.union(*(each.called for each in self.driven))
        for kind, backward in functions_of(self.state, self.module):
            if budget.together > 0 and backward.node not in known:
                run = partial(imagine_apply, machine, self.state.fork(), kind)
                self._run("latent", Candidate(backward, kind), self.finish, budget, run)
        known = self.script.union(*(each.called for each in self.driven if each.rank == TRAINS))
        for _, candidate in self.ranked:
            machine.check_cancelled()
            function, owner = candidate.function, candidate.owner
            if budget.together <= 0 or function.node in known:
                continue
            if is_worth_imagining(machine, self.state, function, owner, self.finish.loads):
                own = [each.unit for each in self.driven if each.function.node is function.node]
                led = given_graphs(function.node, [unit for unit in ran if unit not in own])
                base = self._base(candidate, budget)
                run = partial(imagined_call, machine, base.result, function, owner, led)
                self._run("latent", candidate, base, budget, run, led)

    def _base(self, candidate: Candidate, budget: Budget) -> AnalysisUnit:
        """What a function begins with: the end of the script, or the object of its class, which is made if need be and
        only once. A class that spends the budget of one entry point on that is not made again for its other methods.
        """
        owner = candidate.owner
        if owner is None or candidate.function.kind in ("static", "class"):
            return self.finish
        if owner.id not in self.objects:
            made: list[tuple[State, HeapRef]] = []

            def make() -> list[State]:
                state = self.state.fork()
                made.append((state, make_instance(self.machine, state, owner, state.heap[owner.id].node)))
                return []

            unit = self.objects[owner.id] = self._run("object", candidate, self.finish, budget, make)
            if made:
                unit.result = made[0]
        return self.objects[owner.id]

    def _run(
        self,
        kind: Literal["object", "function", "latent"],
        candidate: Candidate,
        base: AnalysisUnit,
        budget: Budget,
        run: Callable[[], list[State]],
        led: frozenset[str] | None = None,
    ) -> AnalysisUnit:
        """Run an entry point of a ``kind``, unless the unit of the last analysis would be the same."""
        machine, owner = self.machine, candidate.owner
        node = None if kind == "object" else candidate.function.node
        key = kind, node, owner.id if owner is not None else 0, led
        unit = self.memory.entries.get(key)
        if unit is not None and unit.base is base and unit.is_valid_within(budget.next):
            if machine.imports is not None and not machine.imports.repeat(unit):
                raise Outdated  # what an older text's unit looked up in other files must be what it was
        else:
            with recorded(machine, _facts(base).fork(), base.loads, budget.next) as unit:
                unit.base = base
                self._record(kind, candidate, unit, run)
            if kind == "latent":  # it is no entry point: nothing of it counts, and nothing is lost with it
                unit.stats, unit.backward_sites = AnalysisStats(faults=unit.stats.faults), {}
                unit.unfollowed = [lost for lost in unit.unfollowed if lost.fault is not None]
            if kind == "latent" or kind == "function" and machine.probe is None:
                unit.facts = None
            self.memory.entries[key] = unit
        self.steps.append(budget.paid(unit))
        return unit

    def _record(
        self,
        kind: Literal["object", "function", "latent"],
        candidate: Candidate,
        unit: AnalysisUnit,
        run: Callable[[], list[State]],
    ) -> None:
        """Run an entry point as a ``unit``."""
        machine, base, entry = self.machine, unit.base, self._named(kind, candidate)
        assert base is not None
        function, owner, unit.run_by = candidate.function, candidate.owner, RunBy.IMAGINED
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
            with machine.detached() if kind == "latent" else nullcontext():
                ends = _entered(machine, [], entry, run)
            if kind == "function":
                unit.stats.stopped += _is_stopped(ends)
                unit.ended = _ended(ends)

    def _named(self, kind: Literal["object", "function", "latent"], candidate: Candidate) -> Entry:
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


def _script(machine: Machine, memory: AnalysisCache, limit: int, ran: list[Ran]) -> list[AnalysisUnit]:
    """Run the module as a script, a stretch at a time, on from what is known of it."""
    steps, limits = memory.script, machine.limits
    if not steps:
        state = State()
        names: dict[str, Value] = {"__name__": Const("__main__"), "__file__": Unknown("__file__", False)}
        module = machine.module = state.frame = state.new(Frame(names, 0, 0))
        state.get(module, Frame).module = module
        if machine.imports is not None:
            machine.imports.adopt(module)
        with recorded(machine, machine.facts, (), 0) as begin:
            begin.stats.entries += 1
        begin.resume_point, begin.result = (Block(machine.tree, "body"),), ([state], module)
        steps.append(begin)
    taken = sum(step.fuel_used for step in steps)
    while not steps[-1].is_truncated and not is_done(steps[-1].resume_point):
        before = steps[-1]
        states, module = before.result
        with recorded(machine, memory.facts(before), before.loads, limit - taken, before) as step:
            step.resume_point, step.is_truncated = before.resume_point, True
            states = memory.paths(states)
            run = partial(run_segment, machine, step, states, max(limits.segment_fuel, taken // limits.segment_share))
            if machine.cells:
                run = partial(_cells, machine, step, states[0], ran)
            step.result = _entered(machine, states, Entry("script"), run), module
        taken += step.fuel_used
        steps.append(step)
    return steps


def _cells(machine: Machine, step: AnalysisUnit, state: State, ran: list[Ran]) -> list[State]:
    states = run_cells(machine, state, ran)
    step.resume_point = (replace(step.resume_point[0], done=len(machine.tree.body)),)
    step.is_truncated = False
    return states


def _facts(step: AnalysisUnit) -> Facts:
    """What was known at the end of a step that others go on from; only a function without a caller lets go of it."""
    assert step.facts is not None
    return step.facts


def _finished(machine: Machine, memory: AnalysisCache) -> AnalysisUnit:
    """What is reported at the end of the script, and the state that functions without a caller begin in."""
    if memory.finish is None:
        before = memory.script[-1]
        with recorded(machine, memory.facts(before), before.loads, 0) as step:
            states, module = memory.paths(before.result[0]), before.result[1]
            finished = next((s for s in states if s.completion is None), states[0])
            step.stats.stopped += _is_stopped(states)
            step.ended = _ended(states)
            try:
                for path in states:
                    if path.completion is None:
                        machine.lifecycle.path_ended.publish(machine, PathEnded(path, None, ()))
            except Cancelled:
                raise
            except Exception as error:
                machine.fail(Entry("script"), error)
            _complete(machine, finished, module)
        step.result = finished, module
        memory.finish = step
    return memory.finish


def _is_stopped(states: list[State]) -> bool:
    """Whether a path has ended in an exception that PyTorch does not raise."""
    return any(isinstance(state.completion, Raise) and not state.completion.error.by_torch for state in states)


def _ended(states: list[State]) -> Ended | None:
    """Where all paths end in an exception of PyTorch that nothing catches, and no event tells; None where one goes on,
    or it depends on a test. What Python refuses is not told: it may as well be something that is not known here.
    """
    errors = [state.completion.error for state in states if isinstance(state.completion, Raise)]
    if not errors or len(errors) < len(states) or not all(map(_is_certain, states)):
        return None
    first = errors[0]
    if first.point is None or any(error.point != first.point or not _is_news(error) for error in errors):
        return None
    return Ended(first.point.node, first.point.calls, first.name, first.message)


def _is_certain(state: State) -> bool:
    """Whether a path is taken whatever tests give."""
    return not state.supposed and state.guard.whole == ALWAYS


def _is_news(error: ProgramRaised) -> bool:
    """Whether PyTorch raises there, and neither the program nor a rule says so."""
    return error.by_torch and not error.is_meant and not error.is_published and bool(error.message)


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


def _entered(machine: Machine, states: list[State], entry: Entry, run: Callable[[], list[State]]) -> list[State]:
    machine.context = RunContext()
    if machine.observer is not None:
        machine.observer.enter(entry)
    try:
        return run() or states
    except Cancelled:
        raise
    except OutOfFuel:
        machine.unit.stats.out_of_fuel += 1
        machine.unit.is_exhausted = True
        machine.give_up(Lost(entry))
    except ProgramRaised:
        pass
    except Exception as error:
        machine.fail(entry, error)
    return states


def _complete(machine: Machine, state: State, module: int) -> None:
    """If the script stopped early, define what stands below: functions may still be analysed."""
    state.frame, state.calls, state.iterations = module, (), ()
    state.completion = None
    state.grad_mode, state.inference = True, False
    state.retained_after_loop = {}  # reported above; of a script that raised no code asks what it keeps
    for statement in machine.tree.body:
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)):
            continue
        if not _bound(statement, state.get(module, Frame).variables):
            try:
                machine.fuel = machine.fuel_used + machine.limits.definition_fuel
                machine.statement(statement, state)
            except (OutOfFuel, ProgramRaised):
                continue
            except Cancelled:
                raise
            except Exception as error:
                machine.fail(Entry("script"), error)
                continue
            state.completion = None


def _bound(statement: ast.stmt, variables: dict[str, Value]) -> bool:
    """Whether a definition or an import has bound its names already."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        names = [alias.asname or alias.name.partition(".")[0] for alias in statement.names]
        return all(name in variables for name in names if name != "*")
    return getattr(statement, "name", None) in variables
