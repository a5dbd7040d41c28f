"""``.grad`` of a tensor that is no leaf or requires no grad, or of a leaf before a backward: it is None, and code that
uses it as a tensor finds out too late.

    h = embed(x); score(h).backward()
    h.grad * h                            # TypeError: 'NoneType' and 'Tensor'

The None that was read is a ``MissingGrad``, by which the place that uses it knows where it came from.
"""

from __future__ import annotations

import ast

from ....autograd import Tensor
from ....autograd.events.broken_graph import AbsentGradientShown, AbsentGradientUsed, NoGradient
from ....autograd.model.graph import Leaf
from ....autograd.model.graph_search import reachable
from ....autograd.model.guesses import guess_below
from ....because import NOTHING, RunBy
from ....domain.completion import ProgramRaised
from ....domain.state import State
from ....domain.values import NONE, MissingGrad, Unknown, Value
from ....engine.machine import Machine
from ....source import cached_on_node, walk, written
from .. import devices
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


def missing(machine: Machine, state: State, tensor: Tensor, node: ast.AST) -> Value:
    """What ``.grad`` of a non-leaf without gradient gives. What a conversion may have moved may be the leaf itself:
    then this is a gradient, unless the tensor was elsewhere.
    """
    made = tensor.grad_fn
    if made is None or not made.certain or not tensor.requires_grad:
        return Unknown("grad", False)
    absent = MissingGrad(None, tensor.id, tensor.created_at, state.point(node))
    if made.op != "to":
        return absent
    value = Unknown("grad", False)
    if devices.may_have_moved(machine, tensor.id) and written(node) not in _tested(machine.tree):
        machine.facts.contents.moved_gradients[value.tensor_id] = absent.tensor, absent.read
    return value


@cached_on_node
def _tested(tree: ast.AST) -> frozenset[str]:
    """What a file compares with None, or uses as a condition."""
    tests = (node.test for node in walk(tree) if isinstance(node, (ast.If, ast.IfExp, ast.While, ast.Assert)))
    compared = (node.left for node in walk(tree) if isinstance(node, ast.Compare))
    return frozenset(written(part) for test in (*tests, *compared) for part in walk(test) if isinstance(part, ast.expr))


def tell_moved(machine: Machine, state: State, value: Value, node: ast.AST) -> None:
    """``value`` is used where only a tensor will do: publish it if it is the ``.grad`` of what a conversion may have
    moved to another device.
    """
    moved = machine.facts.contents.moved_gradients
    if not moved or not isinstance(value, Unknown) or value.tensor_id not in moved or machine.handlers_around:
        return
    key, read = moved[value.tensor_id]
    made = state.tensors[key].created_at
    machine.facts.events.publish(
        AbsentGradientUsed(
            point=state.point(node),
            because=devices.copies(made.node),
            tensor=key,
            read=read,
            created_at=made,
        )
    )


def never_there(machine: Machine, state: State, tensor: Tensor, node: ast.AST) -> Value:
    """What ``.grad`` of a leaf without gradient gives. Of one that requires no grad, code that was not read may have
    changed that, or have set a gradient; and which parameters are frozen is often asked of another network.
    """
    if tensor.requires_grad is False:
        is_known = tensor.id not in machine.facts.objects.handed_out and not tensor.parameter
        why = NoGradient.CONSTANT
    else:
        is_known = _is_unwalked(machine, state, tensor)
        past = state.history.get(tensor.id)
        why = NoGradient.UNREACHED if past is None or past.never else NoGradient.CLEARED
    return MissingGrad(None, tensor.id, tensor.created_at, state.point(node), why) if is_known else NONE


def _is_unwalked(machine: Machine, state: State, leaf: Tensor) -> bool:
    """Whether no leaf has a gradient for certain: none that was cleared since, or none ever. What is said of one leaf
    beside others that have some would rest on how the graph was followed; what an imagined caller did not find, such as
    the network of an object, another one may have walked before.
    """
    if machine.unit.run_by is not RunBy.PROGRAM and leaf.id <= machine.unit.began:
        return False
    some = any(past.passes or past.doubt or past.perhaps for past in state.history.values())
    return not some and not state.unread and not machine.facts.is_in_doubt(state)


def tell_printed(machine: Machine, state: State, value: Value, node: ast.AST) -> None:
    """``value`` is printed: publish it if it is such a None, although a backward has passed through the tensor."""
    if not isinstance(value, MissingGrad) or value.why is not NoGradient.COMPUTED:
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
    if value.why is NoGradient.COMPUTED or not machine.handlers_around:
        tensor = state.tensors.get(value.tensor)
        made = tensor.grad_fn if tensor is not None else None
        machine.facts.events.publish(
            AbsentGradientUsed(
                point=state.point(node),
                because=NOTHING if made is None else guess_below(state, (made,)),
                tensor=value.tensor,
                read=value.read,
                created_at=value.created_at,
                why=value.why,
            )
        )
    raise ProgramRaised(error, "'NoneType' object", by_torch=True)
