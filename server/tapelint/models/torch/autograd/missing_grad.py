"""``.grad`` of a tensor that is no leaf: it is None, and code that uses it as a tensor finds out too late.

    h = embed(x); score(h).backward()
    h.grad * h                            # TypeError: 'NoneType' and 'Tensor'

The None that was read is a ``MissingGrad``, by which the place that uses it knows where it came from.
"""

from __future__ import annotations

import ast

from ....autograd import Tensor
from ....autograd.events.broken_graph import AbsentGradientUsed
from ....domain.completion import ProgramRaised
from ....domain.state import State
from ....domain.values import MissingGrad, Unknown, Value
from ....engine.machine import Machine


def missing(machine: Machine, state: State, tensor: Tensor, node: ast.AST) -> Value:
    """What ``.grad`` of a non-leaf without gradient gives."""
    made = tensor.grad_fn
    if made is None or not made.certain or made.op == "to" or not tensor.requires_grad:
        return Unknown("grad", False)
    return MissingGrad(None, tensor.id, tensor.created_at, state.point(node))


def used(machine: Machine, state: State, value: Value, node: ast.AST, error: str) -> None:
    """``value`` is used where only a tensor will do; raises if it is such a None."""
    if not isinstance(value, MissingGrad):
        return
    machine.facts.events.publish(
        AbsentGradientUsed(point=state.point(node), tensor=value.tensor, read=value.read, created_at=value.created_at)
    )
    raise ProgramRaised(error, "'NoneType' object", by_torch=True)
