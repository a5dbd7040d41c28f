"""The step of an optimizer that the program derives from ``torch.optim.Optimizer`` uses the gradients it asks for.

    class Own(torch.optim.Optimizer):
        def step(self):
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:                     # asked for, whether there is one or not
                        p.add_(p.grad, alpha=-group["lr"])     # a part of this step, and none of its own

Its gradients are used where it returns. One that leaves that to another optimizer, or to its next call, uses none.
"""

from __future__ import annotations

import ast

from ....domain import facets
from ....domain.completion import Raise
from ....domain.state import State
from ....domain.values import HeapRef, Instance, Optimizer, Value
from ....engine.lifecycle import CallReturned
from ....engine.machine import Machine
from ..autograd.grad_use import use_grads, written_optimizer


def stepping(machine: Machine, state: State, leaf: int) -> HeapRef | None:
    """What the object holds whose ``step`` is running, if that is an optimizer of the program that holds ``leaf``."""
    for function, given in reversed(machine.context.call_stack):
        if (held := _stepped(state, function, given)) is not None:
            return held if leaf in state.get(held.id, Optimizer).params else None
    return None


def _stepped(state: State, function: ast.AST, given: tuple[Value, ...]) -> HeapRef | None:
    """What an optimizer of the program was given to update, if a call is one of its ``step``."""
    return held_by(state, given[0]) if given and getattr(function, "name", "") == "step" else None


def held_by(state: State, optimizer: Value) -> HeapRef | None:
    """What an optimizer of the program was given to update."""
    thing = state.heap.get(optimizer.id) if isinstance(optimizer, HeapRef) else None
    held = thing.attributes.get(facets.OPTIMIZED) if isinstance(thing, Instance) else None
    return held if isinstance(held, HeapRef) else None


def note_asked(machine: Machine, state: State, leaf: int) -> None:
    """The ``.grad`` of a leaf was asked for."""
    held = stepping(machine, state, leaf)
    if held is not None and not state.get(held.id, Optimizer).asks:
        state.edit(held.id, Optimizer).asks = True


def on_call_returned(machine: Machine, event: CallReturned) -> None:
    """A ``step`` that has asked for gradients has used them, unless it has called that of another optimizer."""
    state = event.state
    held = _stepped(state, event.function, event.given)
    if held is None or not state.get(held.id, Optimizer).asks:
        return
    optimizer = state.edit(held.id, Optimizer)
    optimizer.asks = False
    pasts = [past for key in optimizer.params if (past := state.history.get(key)) is not None]
    if isinstance(state.completion, Raise) or any(p.step is not None and event.call in p.step.calls for p in pasts):
        return
    is_scaled = len(event.given) == 1 and isinstance(event.call, ast.Call) and bool(event.call.args)
    scaler = written_optimizer(event.call, False) if is_scaled else None
    written = written_optimizer(event.call, is_scaled)
    use_grads(machine, state, optimizer.params, event.call, written, scaler, held.id)
    optimizer.stepped = state.point(event.call)
