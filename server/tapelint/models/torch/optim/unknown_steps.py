"""``opt.step(closure)`` where it is not known what ``opt`` is: what takes a closure that goes backward is an optimizer.

def closure():
    loss = compute()
    loss.backward()
    return loss
self.opt.step(closure)        # calls it once at least, with gradients enabled
"""

from __future__ import annotations

import ast

from ....because import guess
from ....domain.state import State
from ....domain.values import BoundMethod, Function, Value
from ....engine.machine import Machine
from ....engine.syntax.syntactic_summary import syntactic_summary
from ....source import written
from ..registry import Call


def unknown_step(machine: Machine, state: State, call: Call) -> Value | None:
    """What the closure of a step returns, which is called once; None where there is no such closure."""
    closure = call.get(0, "closure")
    own = closure.function if isinstance(closure, BoundMethod) else closure
    if not isinstance(own, Function) or not syntactic_summary(own.node).backward or len(call.args) > 1:
        return None
    called = call.node.func if isinstance(call.node, ast.Call) else None
    name = f"`{written(called.value)}`" if isinstance(called, ast.Attribute) else "it"
    mode, state.grad_mode = state.grad_mode, True
    with machine.facts.events.assuming(guess(f"{name} is an optimizer, which calls the closure")):
        result = machine.call(state, closure, [], {}, call.node, call.key)
    state.grad_mode = mode
    return result
