"""Local functions that go backward and are handed to code that is not known: it is there to call them.

    def closure():
        loss = criterion(net(x), y)
        loss.backward()
        return loss
    self.opt.step(closure)          what `self.opt` is, nothing here says

The function runs once, on a path of its own: whether and how often it is called is not known, so nothing after the
call rests on it. What is found in it supposes that it is called.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ..because import guess
from ..domain.state import State
from ..domain.values import Frame, Function, Value
from ..engine.machine import Machine
from ..engine.syntax.syntactic_summary import syntactic_summary
from ..source import written
from .functions import call_function


def run_handed(machine: Machine, state: State, given: Iterable[Value], node: ast.AST) -> None:
    """Run the local functions among what unknown code is given at ``node`` that go backward and have not run yet."""
    for function in waiting(machine, state, given):
        if state.grad_mode is not False:
            _run(machine, state, function, node)


def waiting(machine: Machine, state: State, values: Iterable[Value]) -> list[Function]:
    """The local functions among values that go backward and have not run: nobody has called them, but is there to."""
    local = [each for each in values if isinstance(each, Function) and _is_local(state, each)]
    idle = [each for each in local if each.node not in machine.unit.called]
    return [each for each in idle if machine.query(_goes_backward, each.node)]


def _run(machine: Machine, state: State, function: Function, node: ast.AST) -> None:
    name = getattr(function.node, "name", "the lambda")
    callee = written(node.func) if isinstance(node, ast.Call) else "code that is not known"

    def run(path: State) -> None:
        call_function(machine, path, function, [], {}, node)

    with machine.facts.events.assuming(guess(f"`{callee}` calls `{name}`")):
        machine.run_paths(state.fork(), run)


def _is_local(state: State, function: Function) -> bool:
    """Whether a function is defined in another: such have no other caller."""
    return state.get(function.frame, Frame).module != function.frame and function.owner is None


def _goes_backward(definition: ast.AST) -> bool:
    return syntactic_summary(definition).backward
