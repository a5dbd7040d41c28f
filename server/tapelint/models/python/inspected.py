"""``inspect.signature``: the parameters of a function of the program, by name and in order.

"mask" in inspect.signature(net.forward).parameters     decided by the ``def`` of ``forward``
len(inspect.signature(load()).parameters)               unknown
"""

from __future__ import annotations

import ast

from ...domain.state import State
from ...domain.values import BoundMethod, External, Function, HeapRef, Instance, Mapping, Value, something
from ...engine.machine import Machine
from ...engine.open_objects import made
from ..torch.registry import Call, function


@function("inspect.signature")
def signature(machine: Machine, state: State, call: Call) -> Value:
    names = _parameters(call.get(0, "obj"))
    if names is None:
        return machine.call_unknown(state, call.args, call.kwargs, call.node, External(call.name))
    parameters = HeapRef(state.new(Mapping({name: something(name) for name in names})))
    made(machine, state, parameters.id)
    return HeapRef(state.new(Instance(External("inspect.Signature"), {"parameters": parameters})))


def has_own_signature(of: Function) -> bool:
    """Whether a function is called with the signature of its ``def``: all of its decorators are known to keep it."""
    if isinstance(of.node, ast.Lambda):
        return True
    kept = bool(of.kind) + (of.grad_mode is not None) + (of.casting is not None)
    return len(of.node.decorator_list) <= kept


def _parameters(of: Value | None) -> list[str] | None:
    """The names of the parameters of what may be a function; None where they are not known."""
    match of:
        case Function():
            bound = 0
        case BoundMethod(Function() as of):
            bound = 1
        case _:
            return None
    if not has_own_signature(of):
        return None
    spec = of.node.args
    positional = [*spec.posonlyargs, *spec.args][bound:]
    others = [each for each in (spec.vararg, *spec.kwonlyargs, spec.kwarg) if each is not None]
    return [each.arg for each in (*positional, *others)]
