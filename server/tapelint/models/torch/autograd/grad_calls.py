"""Clearing and clipping gradients, and the step that uses them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ....autograd import bump, leaf
from ....autograd.events.training_step import GradientsClipped
from ....autograd.gradients import history
from ....autograd.gradients.ledger import perhaps_reached
from ....autograd.gradients.withheld import Fates
from ....domain.state import State
from ....domain.traversal import tensors_in
from ....domain.values import NONE, Const, Frame, TensorRef, Unknown, Value
from ....engine.machine import Machine
from ....source import cached_on_node, walk
from ..dispatch import run
from ..optim.optimized_parameters import collected
from ..registry import TENSOR_METHODS, Call, function, method
from .grad_access import cleared_by_hand
from .grad_use import reason_of


def clear_grads(machine: Machine, state: State, keys: Sequence[int], call: Call) -> None:
    """``zero_grad``: by default the gradients are gone, with ``set_to_none=False`` they are zeroed in place."""
    gone = call.flag(0, "set_to_none", True)
    state.changes += 1
    for key in keys:
        grad = state.grads.get(key)
        if grad is None:
            continue
        if gone is False:
            bump(state, state.tensors[grad].version_counter, "zero_", call.node)
        else:
            del state.grads[key]
    history.cleared(state, keys, state.point(call.node), machine.facts.relevant_assumptions(state))
    machine.unit.notes.record(Fates).discard(state, keys)


@function("torch.autograd.gradcheck.zero_gradients")
def zero_gradients(machine: Machine, state: State, call: Call) -> Value:
    """The gradients of a tensor, or of several, are zero: a function of PyTorch up to 1.8."""
    keys = [*tensors_in(state, call.get(0, "x"))]
    clear_grads(machine, state, keys, Call(call.name, [Const(False)], {}, call.node))
    return NONE


@method(TENSOR_METHODS, "zero_")
def zero_in_place(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Value:
    """``p.grad.zero_()``, ``p.grad.data.zero_()``: a write like others; if it was to a gradient, that is cleared."""
    result = run(machine, state, "zero_", [receiver], {}, call.node) or receiver
    memory = state.tensors[receiver.id].storage
    for key, grad in state.grads.items():
        if state.tensors[grad].storage == memory:
            cleared_by_hand(machine, state, key, call.node)
            break
    return result


@method(TENSOR_METHODS, "clamp_", "clip_")
def clamp_in_place(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Value:
    """``p.grad.clamp_(-1, 1)``: a write like others; if it was to a gradient, that is clipped."""
    result = run(machine, state, "clamp_", [receiver, *call.args], call.kwargs, call.node) or receiver
    memory = state.tensors[receiver.id].storage
    for key, grad in state.grads.items():
        if state.tensors[grad].storage == memory:
            history.clipped(state, [key], state.point(call.node))
            break
    return result


@function("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_", "torch.nn.utils.clip_grad_norm")
def clip_gradients(machine: Machine, state: State, call: Call) -> Value:
    keys = list(dict.fromkeys(tensors_in(state, collected(machine, state, call.get(0, "parameters"), call))))
    for key in keys:
        grad = state.grads.get(key)
        if grad is not None:
            bump(state, state.tensors[grad].version_counter, "clip_grad", call.node)
    history.doubted(state, perhaps_reached(state).intersection(keys))
    point, premises = state.point(call.node), machine.facts.relevant_assumptions(state)
    limit = call.get(1, "max_norm", call.get(1, "clip_value", NONE))
    number = limit.value if isinstance(limit, Const) and isinstance(limit.value, (int, float)) else None
    past = history.groups(state, keys)
    frame = state.get(state.frame, Frame)
    scope = machine.running_file(state) if frame.function is None else frame.function.node
    is_read = call.node not in machine.query(_dropped, scope)
    clipped = GradientsClipped(
        point=point, because=reason_of(past), past=past, limit=number, is_read=is_read, premises=premises
    )
    machine.facts.events.publish(clipped)
    history.clipped(state, keys, point)
    if not any(gradients.passes for gradients, _ in past):  # it may be what an unknown loss has reached
        history.clipped(state, set(machine.facts.training.scaled_leaves.values()), point)
    machine.unit.notes.record(Fates).use(state, keys)
    if not clipped.only_measures:
        history.clipped_early(state, keys, point)
    return TensorRef(leaf(state, call.node))


@cached_on_node
def _dropped(scope: ast.AST) -> frozenset[ast.AST]:
    """The expressions of a function or a file whose values are not used."""
    return frozenset(node.value for node in walk(scope) if isinstance(node, ast.Expr))


@function(*(f"torch.autograd.functional.{name}" for name in ("jacobian", "hessian", "vjp", "jvp", "hvp", "vhp")))
def derivative(machine: Machine, state: State, call: Call) -> Value:
    """Data, one tensor or several in the shape of inputs and outputs, unless it is asked for a graph. Each call builds
    its graphs and frees nothing that was there before.

    J = jacobian(f, x)                          # f runs on an alias of x that requires grad; J is data
    J = jacobian(f, x, create_graph=True)       # J has a graph of its own
    """
    place = 2 if call.name.endswith(("jacobian", "hessian")) else 3
    return Unknown("derivative", False if call.flag(place, "create_graph", False) is False else None)
