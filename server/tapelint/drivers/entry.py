"""Where execution starts: the module as a script, then every function that nothing called.

What a function without a caller is given is said in ``parameters``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Set
from collections.abc import Sequence as SequenceType
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter

from ..autograd import Facts
from ..autograd.model.choices import ALWAYS
from ..because import RunBy
from ..domain.completion import ProgramRaised, Raise
from ..domain.state import State
from ..domain.values import Class, Const, Frame, Function, HeapRef, Unknown, Value
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
from .graph_caller import functions_of, imagine_apply
from .inferred_arguments import make_instance
from .notebook_cells import Ran, run_again, run_cells
from .segments import is_done, run_segment
from .test_functions import is_test_class
from .unreached_functions import (
    NON_TRAINING,
    TRAINS,
    Candidate,
    imagined_call,
    is_run_by_tests,
    is_worth_imagining,
    priority,
    run_entry,
    unreached_functions,
)


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
class Drove:
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
    state, module = finish.result
    called = set(machine.untried).union(*(step.called for step in steps))
    trees = machine.tree, *(module.source.tree for module in finish.loads)
    made = dict[int, AnalysisUnit]()
    ranked = [
        (priority(candidate.function.node, trees), candidate)
        for candidate in unreached_functions(machine, state, module, finish.loads)
    ]
    before: ast.AST | None = None
    drove: list[Drove] = []
    ranked.sort(key=itemgetter(0))
    for rank, candidate in ranked:
        machine.check_cancelled()
        function, owner = candidate.function, candidate.owner
        if candidate.is_reached(called) and function.node is not before:
            continue  # one after the other it runs on objects of several classes
        before = function.node
        if rank == NON_TRAINING:
            budget.narrow(limits)
        steps.append(_counted_in(machine, _named(finish, function, owner), budget))
        if not budget.next:
            continue
        base = _base(machine, memory, finish, function, owner, budget, made, steps)
        step = budget.paid(_entry(machine, memory, base, finish, function, owner, budget.next))
        steps.append(step)
        called |= base.called | step.called
        drove.append(Drove(rank, function, step))
    with recorded(machine, _facts(finish), finish.loads, 0) as again:
        run_again(machine, ran, partial(_entered, machine, []))
    steps.append(again)
    _latent(machine, memory, finish, ranked, made, drove, steps)
    machine.frozen_contents.clear()
    return _counted(machine, steps)


def _base(
    machine: Machine,
    memory: AnalysisCache,
    finish: AnalysisUnit,
    function: Function,
    owner: HeapRef | None,
    budget: Budget,
    made: dict[int, AnalysisUnit],
    steps: list[AnalysisUnit],
) -> AnalysisUnit:
    """What a function begins with: the end of the script, or the object of its class, which is made if need be."""
    if owner is None or function.kind in ("static", "class"):
        return finish
    if owner.id not in made:
        made[owner.id] = budget.paid(_object(machine, memory, finish, owner, budget.next))
        steps.append(made[owner.id])
    return made[owner.id]


def _latent(
    machine: Machine,
    memory: AnalysisCache,
    finish: AnalysisUnit,
    ranked: Iterable[tuple[int, Candidate]],
    made: dict[int, AnalysisUnit],
    drove: SequenceType[Drove],
    steps: list[AnalysisUnit],
) -> None:
    """Call functions as a caller might whose tensors require grad, as long as the fuel for that lasts; not those that
    the script has called, or what trains: there the arguments are known. Where others have called a function, only what
    they may give a graph to requires grad.
    """
    limits, script = machine.limits, set[ast.AST]().union(*(step.called for step in steps if step.is_script))
    budget = Budget(limits.latent_fuel, limits.all_latent_fuel)
    ran = [*steps]
    _apply(machine, memory, finish, script.union(*(each.called for each in drove)), budget, steps)
    known = script.union(*(each.called for each in drove if each.rank == TRAINS))
    for _, candidate in ranked:
        machine.check_cancelled()
        function, owner = candidate.function, candidate.owner
        if (
            budget.together > 0
            and function.node not in known
            and is_worth_imagining(machine, finish.result[0], function, owner, finish.loads)
        ):
            led = _led(function, ran, drove)
            base = _base(machine, memory, finish, function, owner, budget, made, steps)
            run = partial(imagined_call, machine, base.result, function, owner, led)
            key, entry = (function.node, owner.id if owner is not None else 0, led), _named(finish, function, owner)
            steps.append(budget.paid(_imagined(machine, memory, base, key, entry, run, budget.next)))


def _led(function: Function, ran: Iterable[AnalysisUnit], drove: Iterable[Drove]) -> frozenset[str] | None:
    """The parameters for which other functions may give a function a graph; None where none has called it."""
    own = [each.unit for each in drove if each.function.node is function.node]
    return given_graphs(function.node, [unit for unit in ran if unit not in own])


def _apply(
    machine: Machine,
    memory: AnalysisCache,
    finish: AnalysisUnit,
    known: Set[ast.AST],
    budget: Budget,
    steps: list[AnalysisUnit],
) -> None:
    """Apply the Functions of the file whose backward no pass has reached."""
    state, module = finish.result
    for kind, backward in functions_of(state, module):
        if budget.together > 0 and backward.node not in known:
            node = state.get(kind.id, Class).node
            run = partial(imagine_apply, machine, state.fork(), kind)
            unit = _imagined(machine, memory, finish, (node, kind.id, None), Entry("latent", node), run, budget.next)
            steps.append(budget.paid(unit))


def _imagined(
    machine: Machine,
    memory: AnalysisCache,
    base: AnalysisUnit,
    key: tuple[ast.AST, int, frozenset[str] | None],
    entry: Entry,
    run: Callable[[], list[State]],
    limit: int,
) -> AnalysisUnit:
    """Run something for an imagined caller. What is counted there counts for nothing: it is no entry point, and nothing
    is lost with it.
    """
    known = memory.latent.get(key)
    if known is not None and known.result is base and known.is_valid_within(limit):
        _looked_up_again(machine, known)
        return known
    with recorded(machine, _facts(base).fork(), base.loads, limit) as step:
        step.dependencies.add(key[0])
        step.run_by, step.function = RunBy.IMAGINED, key[0]
        if base.result is not None:
            with machine.detached():
                _entered(machine, [], replace(entry, kind="latent"), run)
    step.stats, step.backward_sites, step.facts, step.result = AnalysisStats(faults=step.stats.faults), {}, None, base
    step.unfollowed = [lost for lost in step.unfollowed if lost.fault is not None]
    memory.latent[key] = step
    return step


def _counted_in(machine: Machine, entry: Entry, budget: Budget) -> AnalysisUnit:
    """Count an entry point, and say that it was not begun where nothing is left for it."""
    with recorded(machine, machine.facts, (), 0) as step:
        step.stats.entries += 1
        if not budget.next:
            machine.unit.stats.out_of_fuel += 1
            machine.give_up(Lost(entry, begun=False))
    return step


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


def _object(machine: Machine, memory: AnalysisCache, finish: AnalysisUnit, owner: HeapRef, limit: int) -> AnalysisUnit:
    """The object whose methods run: made once for each class, every method has its own copy of the state after that.

    A class that spends the budget of one entry point on its ``__init__`` is not made again for its other methods.
    """
    known = memory.objects.get(owner.id)
    if known is not None and known.is_valid_within(limit):
        _looked_up_again(machine, known)
        return known
    with recorded(machine, _facts(finish).fork(), finish.loads, limit) as step:
        state = finish.result[0].fork()
        step.run_by = RunBy.TESTS if is_test_class(machine, state, owner) else RunBy.IMAGINED
        made: list[tuple[State, HeapRef]] = []

        def make() -> list[State]:
            made.append((state, make_instance(machine, state, owner, state.heap[owner.id].node)))
            return []

        _entered(machine, [], Entry("object", finish.result[0].heap[owner.id].node), make)
        step.result = made[0] if made else None
    memory.objects[owner.id] = step
    return step


def _entry(
    machine: Machine,
    memory: AnalysisCache,
    base: AnalysisUnit,
    finish: AnalysisUnit,
    function: Function,
    owner: HeapRef | None,
    limit: int,
) -> AnalysisUnit:
    """Run a function that nothing has called; a method on the object that ``base`` has made."""
    key = function.node, owner.id if owner is not None else 0
    known = memory.entries.get(key)
    if known is not None and known.result is base and known.is_valid_within(limit):
        _looked_up_again(machine, known)
        return known
    with recorded(machine, _facts(base).fork(), base.loads, limit) as step:
        is_of_tests = is_run_by_tests(machine, finish.result[0], function, owner)
        step.run_by = RunBy.TESTS if is_of_tests else RunBy.IMAGINED
        step.function = function.node
        step.dependencies.add(function.node)
        entry = _named(finish, function, owner)
        if base.result is None:
            machine.unit.stats.out_of_fuel += 1
            machine.unit.is_exhausted = True
            machine.give_up(Lost(entry, begun=False))
        else:
            ends = _entered(machine, [], entry, partial(run_entry, machine, base.result, function, owner))
            step.stats.stopped += _is_stopped(ends)
            step.ended = _ended(ends)
    step.result = base
    if machine.probe is None:
        step.facts = None
    memory.entries[key] = step
    return step


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


def _looked_up_again(machine: Machine, known: AnalysisUnit) -> None:
    """What an older text's step looked up in other files counts for this one, and must be what it was."""
    if machine.imports is not None and not machine.imports.repeat(known):
        raise Outdated


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


def _named(finish: AnalysisUnit, function: Function, owner: HeapRef | None) -> Entry:
    return Entry("function", function.node, None if owner is None else finish.result[0].heap[owner.id].node)


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
