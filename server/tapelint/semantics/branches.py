"""Branches: ``if``, the conditional expression, ``match``, ``try``.

A condition that is not known runs both ways. If a way changes nothing that matters, the two are one again at once.
The truth assumed for an unknown condition is remembered on the path, so that the same test later takes the same side.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from ..because import guess
from ..domain.completion import Caught, ProgramRaised, Raise, takes
from ..domain.mro import ANYTHING, is_exception, kinds_of
from ..domain.state import State
from ..domain.values import Const, Tuple, Unknown, Value, something
from ..engine.machine import EXPRESSIONS, STATEMENTS, Key, Machine
from ..engine.observer import Forked
from ..engine.paths.conditions import Decision, decide
from ..engine.paths.parting import Branch, fork, part
from ..engine.paths.truth import all_of, any_of
from ..engine.stored_names import named
from ..models.torch.autograd.grad_access import reaches, weigh
from ..source import written

BY_KEYBOARD = frozenset((("KeyboardInterrupt",),))
"""The classes of a handler for what no code raises, but the user who stops the program."""
Tested = tuple[State, Decision | None]
"""A path after a test, and what is known of the test; None where it has raised."""


def branch(machine: Machine, node: ast.If, state: State) -> list[State]:
    return sides(machine, node, *tested(machine, node, state))


def sides(machine: Machine, node: ast.If, paths: list[Tested], looks: set[int]) -> list[State]:
    """What comes after the test, which has looked at numbers."""
    path, decision = paths[0]
    if looks and len(paths) == 1 and not node.orelse and decision is not None and decision[0] is not None:
        return _by_number(machine, node, path, decision[0], looks)
    machine.observations.add(*looks)
    return taken(machine, node, paths)


def _by_number(machine: Machine, node: ast.If, path: State, known: bool, looks: set[int]) -> list[State]:
    """A body that is run in some iterations, by their number: ``if index % 100 == 0: print(loss.item())``. If it was
    seen to do nothing, it does not matter what the test has looked at.
    """
    paths = [path]
    if known:
        before = _all_of(path)
        paths = machine.block(node.body, paths)
        is_idle = len(paths) == 1 and paths[0].completion is None and _all_of(paths[0]) == before
        (machine.unit.iteration_facts.inert.add if is_idle else machine.unit.iteration_facts.inert.discard)(node)
    if node not in machine.unit.iteration_facts.inert:
        machine.observations.add(*looks)
    return paths


def _all_of(state: State) -> tuple[object, ...]:
    """What is different if anything is done that can matter."""
    known = (
        state.tensors,
        state.writes,
        state.untracked_writes,
        state.freed,
        state.grads,
        state.history,
        state.hooks,
        state.last_stores,
    )
    return state.changes, state.escaped, *(dict(each) for each in known)


def tested(machine: Machine, node: ast.If, state: State) -> tuple[list[Tested], set[int]]:
    """The paths after the test, and at what it has looked."""
    with machine.observations.collected() as looks:
        return machine.run_values(state, lambda s: decide(machine, node.test, s, machine.eval(node.test, s))), looks


def taken(machine: Machine, node: ast.If, paths: list[Tested]) -> list[State]:
    """The sides that ``paths`` take, one or both."""
    results: list[State] = []
    for path, decision in paths:
        if decision is None:
            results.append(path)
            continue
        known, key, negated = decision
        if known is not None:
            results += machine.block(node.body if known else node.orelse, [path])
            continue
        if key is not None:
            weigh(machine, path, node, key, negated)
        other = fork(machine, Branch(node.test, tuple(node.body), tuple(node.orelse)), path, key, negated)
        results += machine.join_and_cap(machine.block(node.body, [path]) + machine.block(node.orelse, [other]))
    return results


def conditional(machine: Machine, node: ast.IfExp, state: State, key: Key) -> Value:
    """``a if test else b``; where the test is unknown both ways are finished, each with its value."""
    value = machine.eval(node.test, state)
    known, choice, negated = decide(machine, node.test, state, value)
    if known is None:
        before = state.guard
        other = fork(machine, Branch(node.test, (node.body,), (node.orelse,)), state, choice, negated)
        values = dict(machine.memo.values)
        alternative: Value | ProgramRaised
        machine.unit.completed.update((node.body, node.orelse))
        body, rest = node.body, node.orelse
        if state.supposed and not other.supposed:  # what an option is by default goes on
            supposing = state.fork()
            state.become(other)
            other, body, rest = supposing, rest, body
        try:
            alternative = machine.eval(rest, other)
        except ProgramRaised as error:
            alternative = error
        waiting = other, {**values, key: alternative}
        try:
            first = machine.eval(body, state)
        except ProgramRaised:
            machine.memo.pending_paths.append(waiting)
            raise
        if first == alternative or isinstance(first, (Const, Unknown)) and isinstance(alternative, (Const, Unknown)):
            state.guard = before
            is_data = all(not isinstance(v, Unknown) or v.requires_grad is False for v in (first, alternative))
            return first if first == alternative else Unknown("conditional", False if is_data else None)
        machine.memo.pending_paths.append(waiting)
        return first
    machine.unit.completed.add(side := node.body if known else node.orelse)
    return machine.eval(side, state)


def matching(machine: Machine, node: ast.Match, state: State) -> list[State]:
    """``match``: the first case that may fit is run; what follows it too, unless it fits for certain."""
    results: list[State] = []
    for path, subject in machine.run_values(state, lambda s: machine.eval(node.subject, s)):
        if subject is None:
            results.append(path)
            continue
        rest: State | None = path
        for index, case in enumerate(node.cases):
            if rest is None:
                break
            verdict = fits(machine, rest, case.pattern, subject) if case.guard is None else None
            if verdict is False:
                continue
            taken = rest if verdict else rest.fork()
            if taken is not rest:
                branch = Branch(case.pattern, tuple(case.body))
                part(machine, branch, taken, rest, ("case", subject, Const(index)), False)
            if taken is not rest and machine.observer is not None:
                machine.observer.decide(Forked(case.pattern, taken, rest))
            capture(machine, taken, case.pattern, subject)
            results += machine.block(case.body, [taken])
            if verdict:
                rest = None
        if rest is not None:
            results.append(rest)
    return machine.join_and_cap(results) if len(results) > 1 else results


def fits(machine: Machine, state: State, pattern: ast.pattern, value: Value) -> bool | None:
    if isinstance(pattern, ast.MatchAs):
        return True if pattern.pattern is None else fits(machine, state, pattern.pattern, value)
    if isinstance(pattern, ast.MatchOr):
        return any_of([fits(machine, state, p, value) for p in pattern.patterns])
    if isinstance(value, Const):
        return _fits_constant(pattern, value)
    if isinstance(value, Tuple) and isinstance(pattern, ast.MatchSequence):
        return _fits_items(machine, state, pattern, value)
    return None


def _fits_items(machine: Machine, state: State, pattern: ast.MatchSequence, value: Tuple) -> bool | None:
    """Whether each item of a tuple fits the pattern at its place."""
    if any(isinstance(p, ast.MatchStar) for p in pattern.patterns):
        return None
    if len(pattern.patterns) != len(value.items):
        return False
    return all_of([fits(machine, state, p, v) for p, v in zip(pattern.patterns, value.items)])


def _fits_constant(pattern: ast.pattern, value: Const) -> bool | None:
    if isinstance(pattern, ast.MatchSingleton):
        return value.value is pattern.value
    if isinstance(pattern, ast.MatchValue) and isinstance(pattern.value, ast.Constant):
        return bool(value.value == pattern.value.value)
    return False if isinstance(pattern, (ast.MatchSequence, ast.MatchMapping)) else None


def capture(machine: Machine, state: State, pattern: ast.pattern, value: Value) -> None:
    """Bind the names of a pattern."""
    if isinstance(pattern, ast.MatchAs):
        if pattern.pattern is not None:
            capture(machine, state, pattern.pattern, value)
        if pattern.name is not None:
            machine.bind(state, pattern.name, value)
    elif (
        isinstance(pattern, ast.MatchSequence)
        and isinstance(value, Tuple)
        and len(value.items) == len(pattern.patterns)
    ):
        for part, item in zip(pattern.patterns, value.items):
            capture(machine, state, part, item)
    else:
        for inner in ast.walk(pattern):
            name = getattr(inner, "name", None) or getattr(inner, "rest", None)
            if isinstance(name, str):
                machine.bind(state, name, something(name))


def trying(machine: Machine, node: ast.Try, state: State) -> list[State]:
    """``try``: handlers run for what was seen to raise; nothing else is imagined to."""
    results: list[State] = []
    depth, frame, calls, iterations = machine.context.depth, state.frame, state.calls, state.iterations
    handlers = [(handler, caught(machine, state, handler.type)) for handler in node.handlers]
    awaited = [node] if any(takes(kinds, ProgramRaised("AttributeError")) for _, kinds in handlers) else []
    handles = not BY_KEYBOARD.issuperset(dict(handlers).values())
    machine.handlers_around += handles
    awaiting = machine.context.awaiting
    awaiting += awaited
    try:
        with _catching(machine, node, handlers):
            ended = machine.block(node.body, [state])
    finally:
        machine.handlers_around -= handles
        del awaiting[len(awaiting) - len(awaited) :]
    for path in ended:
        if isinstance(path.completion, Raise):
            error = path.completion.error
            handler = next((handler for handler, kinds in handlers if takes(kinds, error)), None)
            if handler is not None:
                machine.context.depth = depth
                path.frame, path.calls, path.iterations = frame, calls, iterations
                path.completion = None
                results += _handle(machine, handler, error, path)
                continue
        elif path.completion is None and node.orelse:
            results += machine.block(node.orelse, [path])
            continue
        results.append(path)
    return _finally(machine, node, results) if node.finalbody else results


def _catching(
    machine: Machine, node: ast.Try, handlers: Sequence[tuple[ast.ExceptHandler, tuple[str, ...]]]
) -> AbstractContextManager[None]:
    """What catches an error of PyTorch in the body of a ``try``. Around a whole training it is there for other errors,
    such as a batch that is too large.
    """
    for handler, kinds in handlers:
        if takes(kinds, ProgramRaised("RuntimeError")) and not any(isinstance(n, ast.Raise) for n in ast.walk(handler)):
            reached = frozenset[str]().union(*(reaches(machine, each) for each in node.body))
            if {"backward", "step"} <= reached:
                caught_there = "" if handler.type is None else f" {written(handler.type)}"
                other = guess(f"`except{caught_there}` is there for other errors")
                return machine.facts.events.handling_other_errors(other)
            return machine.facts.events.handling(True)
    return nullcontext()


def _handle(machine: Machine, handler: ast.ExceptHandler, error: ProgramRaised, path: State) -> list[State]:
    """Run a handler; ``raise`` in it raises the ``error`` again, and so does ``raise e`` after ``except ... as e``,
    there or later, by any name.
    """
    if handler.name:
        machine.bind(path, handler.name, something(handler.name, formula=Caught(error)))
    machine.handled.append(error)
    try:
        return machine.block(handler.body, [path])
    finally:
        machine.handled.pop()


def _finally(machine: Machine, node: ast.Try, results: list[State]) -> list[State]:
    """Run ``finally`` on every path; it goes on to where it was going, unless ``finally`` leaves for elsewhere."""
    finished: list[State] = []
    for path in results:
        completion, path.completion = path.completion, None
        for out in machine.block(node.finalbody, [path]):
            if out.completion is None:
                out.completion = completion
            finished.append(out)
    return finished


def swallowed(machine: Machine, state: State, manager: ast.expr) -> tuple[str, ...]:
    """The classes of exceptions that a context manager whose code is not known is given: it may end them."""
    given = manager.args if isinstance(manager, ast.Call) else []
    listed = [item for each in given for item in (each.elts if isinstance(each, ast.Tuple) else [each])]
    values = [value for argument in listed if (value := named(machine, state, argument)) is not None]
    return tuple(kind for value in values if is_exception(state, value) for kind in kinds_of(state, value))


def caught(machine: Machine, state: State, asked: ast.expr | None) -> tuple[str, ...]:
    """The kinds of exceptions that a handler names, all of them where they are not known. Python evaluates the names
    when something is raised; they are looked up without running any code.
    """
    if isinstance(asked, ast.Tuple):
        return tuple(kind for item in asked.elts for kind in caught(machine, state, item))
    value = None if asked is None else named(machine, state, asked)
    return (ANYTHING,) if value is None else kinds_of(state, value)


STATEMENTS.update({ast.If: branch, ast.Try: trying, ast.Match: matching})
if hasattr(ast, "TryStar"):
    STATEMENTS[ast.TryStar] = trying
EXPRESSIONS[ast.IfExp] = conditional
