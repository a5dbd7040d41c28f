"""``.grad`` of a tensor that is no leaf or requires no grad: it is None, and code that uses it as a tensor finds out
too late.

    h = embed(x); score(h).backward()
    h.grad * h                            # TypeError: 'NoneType' and 'Tensor'

The None that was read is a ``MissingGrad``, by which the place that uses it knows where it came from.
"""

from __future__ import annotations

import ast

from ....autograd import Tensor
from ....autograd.events.broken_graph import AbsentGradientShown, AbsentGradientUsed
from ....autograd.model.graph import Leaf
from ....autograd.model.graph_search import reachable
from ....autograd.model.guesses import guess_below
from ....because import NOTHING
from ....domain.completion import ProgramRaised
from ....domain.state import State
from ....domain.values import NONE, MissingGrad, Unknown, Value
from ....engine.machine import Machine
from .tensor_hooks import retains


def may_be_there(state: State, tensor: Tensor) -> bool:
    """Whether unknown code may have gone backward to a tensor that gets a gradient: it was given a graph that leads
    there, and nothing has freed that.
    """
    if (
        not state.escaped
        or tensor.requires_grad is False
        or tensor.grad_fn is not None
        and not retains(state, tensor.id)
    ):
        return False
    begin = state.grad_fns(state.escaped)
    wanted = tensor.grad_fn or Leaf(tensor.id)
    return any(item == wanted for item in reachable(begin, lambda node: node not in state.freed))


def missing(state: State, tensor: Tensor, node: ast.AST) -> Value:
    """What ``.grad`` of a non-leaf without gradient gives."""
    made = tensor.grad_fn
    if made is None or not made.certain or made.op == "to" or not tensor.requires_grad:
        return Unknown("grad", False)
    return MissingGrad(None, tensor.id, tensor.created_at, state.point(node))


def never_there(machine: Machine, state: State, tensor: Tensor, node: ast.AST) -> Value:
    """What ``.grad`` of a tensor that requires no grad gives. Code that was not read may have changed that, or have set
    a gradient; and which parameters are frozen is often asked of another network.
    """
    if tensor.requires_grad is not False or tensor.id in machine.facts.objects.handed_out or tensor.parameter:
        return NONE
    return MissingGrad(None, tensor.id, tensor.created_at, state.point(node), False)


def tell_printed(machine: Machine, state: State, value: Value, node: ast.AST) -> None:
    """``value`` is printed: publish it if it is such a None, although a backward has passed through the tensor."""
    if not isinstance(value, MissingGrad) or not value.requires_grad:
        return
    if state.tensors[value.tensor].grad_fn in state.freed:
        machine.facts.events.publish(
            AbsentGradientShown(
                point=state.point(node), tensor=value.tensor, read=value.read, created_at=value.created_at
            )
        )


def refuse_none(machine: Machine, state: State, value: Value, node: ast.AST, error: str) -> None:
    """``value`` is used where only a tensor will do; raises if it is such a None."""
    if not isinstance(value, MissingGrad):
        return
    if value.requires_grad or not machine.handlers_around:
        tensor = state.tensors.get(value.tensor)
        made = tensor.grad_fn if tensor is not None else None
        machine.facts.events.publish(
            AbsentGradientUsed(
                point=state.point(node),
                because=NOTHING if made is None else guess_below(state, (made,)),
                tensor=value.tensor,
                read=value.read,
                created_at=value.created_at,
                requires_grad=value.requires_grad,
            )
        )
    raise ProgramRaised(error, "'NoneType' object", by_torch=True)
