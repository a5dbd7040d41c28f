"""``with``: what happens on the way into a block and on the way out of it.

with torch.no_grad():                 grad modes are entered and left
with evaluating(net):                 generators run around the body
with Frozen(net.head) as head:        the program's own classes: ``__enter__``, the body, ``__exit__``
with suppress(RuntimeError):          what the program catches is not reported
with open(path) as file:              all others are looked through
"""

from __future__ import annotations

import ast
from functools import partial

from ..domain.completion import ProgramRaised, Raise, ends, takes
from ..domain.mro import own_method
from ..domain.state import State
from ..domain.values import (
    NONE,
    TRUE,
    Autocast,
    Expecting,
    Generator,
    HeapRef,
    SavedTensorHooks,
    TensorRef,
    Unknown,
    Value,
)
from ..engine.machine import STATEMENTS, Machine
from ..models.torch.autograd.grad_mode import as_mode, refuse_class
from .assign import assign
from .branches import swallowed
from .calls import call_value
from .functions import run_generator


def with_block(machine: Machine, node: ast.With, state: State) -> list[State]:
    return _with(machine, node, list(node.items), state)


def _with(machine: Machine, node: ast.With, items: list[ast.withitem], state: State) -> list[State]:
    if not items:
        return machine.block(node.body, [state])
    item, rest = items[0], items[1:]
    before = (state.modes, state.saved_tensor_override)
    results: list[State] = []
    for path, value in machine.run_values(state, partial(_manager, machine, item.context_expr)):
        if value is None:
            results.append(path)
            continue
        inside = partial(_body, machine, node, item, rest)
        if isinstance(value, Unknown) and value.note == "torch.device":
            machine.facts.contents.default_device_changed.add(value.note)
        if isinstance(value, Generator) and value.function is not None:
            results += run_generator(machine, path, value, inside)
        elif as_mode(value) is not None or isinstance(value, (SavedTensorHooks, Autocast)):
            for out in _ambient(machine, path, value, inside):
                out.modes, out.saved_tensor_override = before
                results.append(out)
        elif isinstance(value, Expecting):
            results += _expecting(machine, path, value, inside)
        elif own_method(path, value, "__exit__") is not None:
            results += _own(machine, node, path, value, inside)
        elif isinstance(value, Unknown) and (kinds := swallowed(machine, path, item.context_expr)):
            results += _expecting(machine, path, Expecting(kinds), inside)
        else:
            results += _entering(machine, node, path, value, inside)
    return results


def _manager(machine: Machine, node: ast.expr, state: State) -> Value:
    value = machine.eval(node, state)
    refuse_class(machine, state, node, value)
    return value


def _ambient(machine: Machine, state: State, value: Value, inside: partial[list[State]]) -> list[State]:
    """What holds for all that happens in the block."""
    mode = as_mode(value)
    if mode is not None:
        state.enter(mode.mode, mode.inference)
    elif isinstance(value, SavedTensorHooks):
        state.saved_tensor_override = ()
    casting, machine.facts.running.casting = (
        machine.facts.running.casting,
        value.enabled if isinstance(value, Autocast) else machine.facts.running.casting,
    )
    try:
        return inside(state, NONE)
    finally:
        machine.facts.running.casting = casting


def _entering(
    machine: Machine, node: ast.With, state: State, value: Value, inside: partial[list[State]]
) -> list[State]:
    """Bind what ``__enter__`` gives, or the manager itself where it has none of its own."""
    own = own_method(state, value, "__enter__")
    if own is None:
        return inside(state, value if isinstance(value, (HeapRef, TensorRef)) else Unknown("with"))
    results: list[State] = []
    for path, entered in machine.run_values(state, lambda s: call_value(machine, s, own, [], {}, node)):
        results += [path] if entered is None else inside(path, entered)
    return results


def _own(machine: Machine, node: ast.With, state: State, value: Value, inside: partial[list[State]]) -> list[State]:
    """Around the block what a class of the program does; its ``__exit__`` runs however the block ends, and what raised
    there is over if it returns True.
    """
    depth, frame, calls, iterations = machine.context.depth, state.frame, state.calls, state.iterations
    results: list[State] = []
    for path in _entering(machine, node, state, value, inside):
        completion, path.completion = path.completion, None
        given: list[Value] = [NONE, NONE, NONE]
        if isinstance(completion, Raise):
            machine.context.depth, path.frame, path.calls, path.iterations = depth, frame, calls, iterations
            given = [Unknown("exception", False) for _ in given]
        own = own_method(path, value, "__exit__")
        assert own is not None
        for out, left in machine.run_values(path, partial(_leave, machine, own, given, node)):
            if left is not None and not (isinstance(completion, Raise) and left == TRUE):
                out.completion = completion
            results.append(out)
    return results


def _leave(machine: Machine, own: Value, given: list[Value], node: ast.With, state: State) -> Value:
    return call_value(machine, state, own, given, {}, node)


def _expecting(machine: Machine, state: State, manager: Expecting, inside: partial[list[State]]) -> list[State]:
    """A block with which some exceptions end. What is raised there on purpose is nothing to report."""
    depth, frame, calls, iterations = machine.context.depth, state.frame, state.calls, state.iterations
    guard = manager.is_meant and takes(manager.kinds, ProgramRaised("RuntimeError"))
    machine.handlers_around += 1
    try:
        with machine.facts.events.handling(guard, manager.pattern):
            outcomes = inside(state, Unknown("with"))
    finally:
        machine.handlers_around -= 1
    for out in outcomes:
        if isinstance(out.completion, Raise) and ends(manager, out.completion.error):
            machine.context.depth = depth
            out.frame, out.calls, out.iterations = frame, calls, iterations
            out.completion = None
    return outcomes


def _body(
    machine: Machine, node: ast.With, item: ast.withitem, rest: list[ast.withitem], state: State, entered: Value
) -> list[State]:
    """Bind what the context manager gave, then go on with the other managers and the body."""
    target = item.optional_vars
    states = [state]
    if target is not None:
        states = machine.run_paths(state, lambda s: assign(machine, s, target, entered, node, None))
    return [out for s in states for out in (_with(machine, node, rest, s) if s.completion is None else [s])]


STATEMENTS.update({ast.With: with_block, ast.AsyncWith: with_block})
