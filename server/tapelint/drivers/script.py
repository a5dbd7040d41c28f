"""The script: the module as it runs, a stretch at a time, and what holds at its end.

What it leaves undefined because it raised is defined then: the functions below may still be analysed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from ..autograd import Facts
from ..autograd.model.choices import ALWAYS, PathGuard, literals_of, without
from ..domain.completion import ProgramRaised, Raise
from ..domain.state import State
from ..domain.values import NONE, Const, Frame, Unknown, Value, something
from ..engine.analysis_unit import AnalysisUnit
from ..engine.incremental import AnalysisCache, recorded
from ..engine.lifecycle import PathEnded
from ..engine.machine import Cancelled, Machine, OutOfFuel, RunContext
from ..engine.paths.abandoned import AbandonedPaths
from ..engine.resume_point import Block
from ..engine.statistics import Ended, Entry, Lost
from ..modules.top_level import define_rest
from ..semantics import networks_by_use
from ..source import Definition, cached_on_node, definitions, is_none, own_nodes, walk
from .notebook_cells import Ran, run_cells
from .segments import is_done, run_segment


def run_script(machine: Machine, memory: AnalysisCache, limit: int, ran: list[Ran]) -> list[AnalysisUnit]:
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
            step.result = enter(machine, states, Entry("script"), run), module
        taken += step.fuel_used
        steps.append(step)
    return steps


def _cells(machine: Machine, step: AnalysisUnit, state: State, ran: list[Ran]) -> list[State]:
    states = run_cells(machine, state, ran)
    step.resume_point = (replace(step.resume_point[0], done=len(machine.tree.body)),)
    step.is_truncated = False
    return states


def facts_after(step: AnalysisUnit) -> Facts:
    """What was known at the end of a step that others go on from; only a function without a caller lets go of it."""
    assert step.facts is not None
    return step.facts


def end_of_script(machine: Machine, memory: AnalysisCache) -> AnalysisUnit:
    """What is reported at the end of the script, and the state that functions without a caller begin in."""
    if memory.finish is None:
        before = memory.script[-1]
        with recorded(machine, memory.facts(before), before.loads, 0) as step:
            states, module = memory.paths(before.result[0]), before.result[1]
            finished = min(states, key=lambda path: (path.completion is not None, bool(path.supposed)))
            step.stats.stopped += is_stopped(states)
            step.ended = certain_end(states) or step.ended
            try:
                for path in states:
                    if path.completion is None:
                        machine.lifecycle.path_ended.publish(machine, PathEnded(path, None, ()))
            except Cancelled:
                raise
            except Exception as error:
                machine.fail(Entry("script"), error)
            finished.frame = module
            finished.retained_after_loop = {}  # reported above; of a script that raised no code asks what it keeps
            if before.is_truncated:
                _forget_choices(finished, before.resume_point)
            define_rest(machine, finished, machine.tree.body, Entry("script"), machine.limits.definition_fuel)
            others = ((each.frame, each.source.tree) for each in before.loads)
            _set_globals(machine, finished, [(module, machine.tree), *others])
        step.result = finished, module
        memory.finish = step
    return memory.finish


def _set_globals(machine: Machine, state: State, modules: Iterable[tuple[int, ast.AST]]) -> None:
    """What is None at the top level of these modules, by their scopes, and is set by a function that has not run: it
    has before what nothing calls does, which could not use it otherwise.

        net = None
        def load():
            global net
            net = build()
        def train(x): net(x).sum().backward()
    """
    for frame, tree in modules:
        scope = state.heap.get(frame)
        variables = scope.variables.items() if isinstance(scope, Frame) else ()
        if unset := {name for name, value in variables if value == NONE}:
            for name in sorted(unset & globals_set(tree)):
                value = networks_by_use.module_variable(machine, state, name, something(name), tree)
                state.edit(frame, Frame).variables[name] = value


@cached_on_node
def globals_set(tree: ast.AST) -> frozenset[str]:
    """The variables of a module that one of its functions sets and does not read: it does not make them when needed."""
    return frozenset().union(*(_set_by(each) for each in definitions(tree) if isinstance(each, Definition)))


def _set_by(function: ast.AST) -> set[str]:
    nodes = [*own_nodes(function)]
    shared = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
    if not shared:
        return shared
    assigned = (node.targets for node in nodes if isinstance(node, ast.Assign) and not is_none(node.value))
    written = {name.id for targets in assigned for target in targets for name in _names(walk(target))}
    return shared & written - {name.id for name in _names(nodes) if isinstance(name.ctx, ast.Load)}


def _names(nodes: Iterable[ast.AST]) -> list[ast.Name]:
    return [node for node in nodes if isinstance(node, ast.Name)]


def _forget_choices(state: State, place: tuple[Block, ...]) -> None:
    """What a call of the script has chosen that was given up is no choice of the functions that others call: it only
    tells the path that was followed from those that were not. They make it anew if they ask the same.
    """
    begun = next((block.caller.entry.frame for block in place if block.caller is not None), None)
    if begun is None:
        return
    inside = frozenset(each for each in literals_of(state.guard.followed) if each[0].number > begun)
    state.guard = PathGuard(without(state.guard.followed, inside), state.guard.whole)
    for choice, _ in inside:
        state.path_condition.pop(choice.formula, None)


def is_stopped(states: list[State]) -> bool:
    """Whether a path has ended in an exception that PyTorch does not raise."""
    return any(isinstance(state.completion, Raise) and not state.completion.error.by_torch for state in states)


def certain_end(states: list[State]) -> Ended | None:
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


def enter(machine: Machine, states: list[State], entry: Entry, run: Callable[[], list[State]]) -> list[State]:
    """The paths in which ``run`` ends; ``states`` where it is given up. A fault in it stays inside and is recorded."""
    machine.context = RunContext()
    if machine.observer is not None:
        machine.observer.enter(entry)
    try:
        return run() or states
    except Cancelled:
        raise
    except OutOfFuel as end:
        machine.unit.notes.record(AbandonedPaths).leave_out(end.paths)
        machine.unit.stats.out_of_fuel += 1
        machine.unit.is_exhausted = True
        machine.give_up(Lost(entry))
    except ProgramRaised:
        pass
    except Exception as error:
        machine.fail(entry, error)
    return states
