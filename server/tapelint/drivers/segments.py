"""The script, a stretch at a time: a stretch may end, and the next one begin, in the middle of a function.

    def run(args):
        model = build(args)
        train(model)                   # here one may end: `train(model)` is the third statement of `run`, which ...
        print(evaluate(model))

    def main():
        args = parse()
        run(args)                      # ... the second one of `main` has called, which ...

    if __name__ == "__main__":
        main()                         # ... the first one below this `if` has called

The machine runs functions on Python's own stack, which cannot be left and resumed. So what is outermost is not
run so: where one path has reached an ``if`` whose test is known, to the first iteration of a loop, or to a statement
that does nothing but use the result of a function of the program, the block that follows is put on a list
(``AnalysisUnit.resume_point``), and its statements are taken one after the other. Whatever else a statement does is
done at once, such as the iterations after the first. What is edited below the place where a stretch has ended, in each
of these blocks, it has not seen (``steps``).
"""

from __future__ import annotations

import ast
from functools import partial

from ..domain.completion import ProgramRaised, Raise
from ..domain.state import State
from ..engine.activation import SuspendedAtCall, pop, restore, unwind
from ..engine.analysis_unit import AnalysisUnit
from ..engine.machine import Machine
from ..engine.observer import Outcomes
from ..engine.resume_point import Block, Caller
from ..engine.syntax.liveness import Loop
from ..semantics.branches import sides, tested
from ..semantics.functions import result_of
from ..semantics.loops import Begun, go_on, tests_of_index
from ..semantics.statements import EFFECTS, SUSPENDED, with_effect


def is_done(place: tuple[Block, ...]) -> bool:
    """Whether this is the end of the script."""
    return len(place) == 1 and place[0].done >= len(place[0].statements)


def run_segment(machine: Machine, step: AnalysisUnit, states: list[State], enough: int) -> list[State]:
    """Go on with the script where ``step`` begins, until it is enough; ``step`` knows where that is."""
    callers = [block.caller.entry for block in step.resume_point if block.caller is not None]
    for entry in callers:
        restore(machine, entry)
    try:
        while machine.fuel_used < enough and not is_done(step.resume_point):
            states = _next(machine, step, states)
    except BaseException:
        if callers:
            machine.facts.running.casting = callers[0].casting
        raise
    step.is_truncated = False
    return states


def _next(machine: Machine, step: AnalysisUnit, states: list[State]) -> list[State]:
    """Run the next statement of the innermost block, or begin the block it leads to, or leave one that has ended."""
    *outer, block = step.resume_point
    going = any(state.completion is None for state in states)
    if outer and (not going or block.done == len(block.statements)):
        step.resume_point = tuple(outer)
        return _left(machine, step, block, states)
    step.resume_point = (*outer, block.next())
    statement = block.statements[block.done]
    if len(states) > 1 and isinstance(statement, Loop):
        states = machine.met_before(statement, states)
    if len(states) > 1 or not going:
        return machine.block([statement], states)
    states = _begin(machine, step, statement, states[0])
    return machine.join_and_cap(states) if len(states) > 1 else states


def _begin(machine: Machine, step: AnalysisUnit, statement: ast.stmt, state: State) -> list[State]:
    """Run a statement, or as much of it as comes before the block it leads to."""
    if isinstance(statement, ast.If):
        machine.fuel_used += 1
        machine.unit.completed.add(statement)
        if machine.observer is not None:
            machine.observer.begin(statement, state)
        paths, looks = tested(machine, statement, state)
        path, decision = paths[0]
        if looks or len(paths) > 1 or decision is None or (known := decision[0]) is None:
            return _ended(machine, statement, sides(machine, statement, paths, looks))
        step.resume_point = (*step.resume_point, Block(statement, "body" if known else "orelse"))
        return [path]
    if isinstance(statement, (ast.For, ast.AsyncFor)):
        machine.context.suspend_at = statement
        try:
            return machine.statement(statement, state)
        except Begun as begun:
            machine.query(tests_of_index, statement)
            machine.unit.completed.add(statement)
            step.resume_point = (
                *step.resume_point,
                Block(statement, "body", None, begun.lead, step.fuel_used_before + begun.steps),
            )
            return [begun.path]
        finally:
            machine.context.suspend_at = None
    call = statement.value if isinstance(statement, SUSPENDED) else None
    if not isinstance(call, ast.Call):
        return machine.statement(statement, state)
    machine.fuel_used += 1
    machine.context.suspend_at = call
    if machine.observer is not None:
        machine.observer.begin(statement, state)
    try:
        states = _ran(machine, statement, with_effect(machine, statement, state))
        return _ended(machine, statement, states)
    except SuspendedAtCall as entered:
        caller = Caller(statement, entered.entry, entered.values, entered.key)
        step.resume_point = (*step.resume_point, Block(entered.entry.function.node, "body", caller))
        return [state]
    finally:
        machine.context.suspend_at = None


def _left(machine: Machine, step: AnalysisUnit, block: Block, states: list[State]) -> list[State]:
    """What has led to a block goes on after it, on every path."""
    if block.caller is not None:
        states = _ended(machine, block.caller.statement, _finished(machine, block, block.caller, states))
    elif block.loop_entry is not None:
        assert isinstance(block.node, (ast.For, ast.AsyncFor))
        states = go_on(
            machine,
            block.node,
            block.loop_entry,
            states,
            step.fuel_used_before + machine.fuel_used - block.fuel_used_before,
        )
    if isinstance(block.node, (ast.If, ast.For, ast.AsyncFor)):
        _ended(machine, block.node, states)
    return machine.join_and_cap(states) if len(states) > 1 else states


def _ended(machine: Machine, statement: ast.stmt, states: list[State]) -> list[State]:
    """An observer, to which a statement was shown when it began, sees how it has ended."""
    machine.locate_raises(statement, states)
    if machine.observer is not None:
        machine.observer.end(statement, states)
    return states


def _finished(machine: Machine, block: Block, caller: Caller, states: list[State]) -> list[State]:
    """A function has ended, and the statement that called it is finished."""
    machine.unit.dependencies.add(block.node)
    unwind(machine, caller.entry)
    states = pop(machine, caller.entry, states)
    work = [(path, {**caller.values, caller.key: result_of(path)}) for path in states]
    first = work[0][1][caller.key]
    if machine.probe is not None and not isinstance(first, ProgramRaised):
        machine.probe(caller.entry.node, states[0], first)
    if len(states) > 1 and machine.observer is not None:
        machine.observer.decide(Outcomes(states[0], states[0], tuple(states[1:])))
    ended = machine.resume_paths(
        [*work[1:], work[0]], partial(EFFECTS[type(caller.statement)], machine, caller.statement)
    )
    return _ran(machine, caller.statement, ended)


def _ran(machine: Machine, statement: ast.stmt, states: list[State]) -> list[State]:
    """The paths on which a statement has ended; the machine knows if it has on any."""
    if any(type(state.completion) is not Raise for state in states):
        machine.unit.completed.add(statement)
    return states
