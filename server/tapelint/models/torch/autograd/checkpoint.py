"""``torch.utils.checkpoint``: what is inside keeps nothing, and is computed again when the backward reaches it.

    h = checkpoint(block, x, use_reentrant=False)   # the graph of block(x); its nodes hold x, and nothing else
    h = checkpoint(block, x, use_reentrant=True)    # one node that holds x; its backward runs block under its own

Without reentrant autograd the first node that needs what it saved runs the function again on the arguments, which must
be unchanged; what was written inside, or which weights changed, does not matter. With it the function runs under
``no_grad``, so nothing needs a gradient unless an argument does; the backward runs it with grad mode on and then a
backward of its own, which frees what it finds whatever the outer one retains.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence as SequenceType
from dataclasses import replace
from functools import partial

from ....autograd import (
    BackwardResult,
    Cut,
    CutReason,
    NodeVisit,
    Provenance,
    SavedTensor,
    TorchRaises,
    fresh_id,
    give_history,
    resolve_view,
)
from ....domain.completion import ProgramRaised
from ....domain.state import State
from ....domain.values import BoundMethod, Const, TensorRef, Value
from ....engine.machine import Machine
from ..nn.module_registry import parameters_of
from ..outputs import direct, edges_of, give_node, python_node
from ..registry import Call, function
from .backward_calls import go_backward

INVALID = "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad()"
UNNECESSARY = "none of output has requires_grad=True, this checkpoint() is not necessary"
OWN = ("use_reentrant", "preserve_rng_state", "determinism_check", "debug", "context_fn", "early_stop")


@function("torch.utils.checkpoint.checkpoint")
def checkpoint(machine: Machine, state: State, call: Call) -> Value:
    run, args = call.get(0, "function"), call.args[1:]
    kwargs = {name: value for name, value in call.kwargs.items() if name not in OWN and name != "function"}
    reentrant = call.kwargs.get("use_reentrant", Const(True))
    if reentrant == Const(True) or reentrant == Const(None):
        if kwargs:
            raise ProgramRaised("ValueError")
        return with_reentry(machine, state, [run], args, call)
    return without_reentry(machine, state, [run], args, kwargs, call)


@function("torch.utils.checkpoint.checkpoint_sequential")
def sequential(machine: Machine, state: State, call: Call) -> Value:
    """All segments but the last one are checkpointed."""
    layers = machine.iterate(state, call.get(0, "functions"), call.node).values
    value = call.get(2, "input")
    count = call.get(1, "segments")
    reentrant = call.kwargs.get("use_reentrant", Const(True)) in (Const(True), Const(None))
    segments = count.value if isinstance(count, Const) and isinstance(count.value, int) else len(layers)
    size = max(len(layers) // max(segments, 1), 1)
    last = size * (segments - 1)
    for start in range(0, min(last, len(layers)), size):
        part = layers[start : start + size]
        if reentrant:
            value = with_reentry(machine, state, part, [value], call)
        else:
            value = without_reentry(machine, state, part, [value], {}, call)
    for layer in layers[last:]:
        value = machine.call(state, layer, [value], {}, call.node)
    return value


def without_reentry(
    machine: Machine, state: State, functions: list[Value], args: list[Value], kwargs: dict[str, Value], call: Call
) -> Value:
    """The nodes made inside hold the arguments in place of what they would save."""
    outer = state.saved_tensor_override
    state.saved_tensor_override = inputs_of_checkpoint(state, args)
    try:
        return _in_turn(machine, state, functions, args, call.node, kwargs)
    finally:
        state.saved_tensor_override = outer


def inputs_of_checkpoint(state: State, args: SequenceType[Value]) -> tuple[SavedTensor, ...]:
    tensors = [resolve_view(state, value.id) for value in args if isinstance(value, TensorRef)]
    return tuple(SavedTensor("checkpoint", t.id, t.version_counter, state.version(t.version_counter)) for t in tensors)


def with_reentry(machine: Machine, state: State, functions: list[Value], args: list[Value], call: Call) -> Value:
    """One node, with everything inside hidden in what it runs."""
    given = [value.id for value in args if isinstance(value, TensorRef)]
    mode, state.grad_mode = state.grad_mode, False
    try:
        result = _in_turn(machine, state, functions, args, call.node)
    finally:
        state.grad_mode = mode
    if mode is True and edges_of(state, given):
        saved = inputs_of_checkpoint(state, args)  # with the versions after forward, as of any Function
        method = partial(_again, machine, functions, args)
        machine.facts.memory.saved.update(item.version_counter for item in saved)
        return give_node(state, result, python_node(state, "CheckpointFunction", given, call, saved, method))
    unknown = mode is not False and any(resolve_view(state, key).requires_grad is None for key in given)
    for key in direct(result):
        if unknown:
            give_history(state, state.tensors[key], state.tensors[key].grad_fn, None)
        elif mode is True:
            inside = tuple(leaf for run in functions for _, leaf in parameters_of(state, _module(run)))
            lost = Cut(state.point(call.node), CutReason.CHECKPOINT, leaves=inside)
            machine.facts.record_provenance(key, Provenance(cut=lost))
    return result


def _module(function: Value) -> Value:
    """The network that a checkpoint runs: itself, or one of its methods."""
    return function.receiver if isinstance(function, BoundMethod) else function


def _in_turn(
    machine: Machine,
    state: State,
    functions: list[Value],
    args: list[Value],
    node: ast.AST,
    kwargs: dict[str, Value] | None = None,
) -> Value:
    for run in functions:
        args = [machine.call(state, run, args, kwargs or {}, node)]
    return args[0]


def _again(
    machine: Machine,
    functions: list[Value],
    args: list[Value],
    state: State,
    turn: NodeVisit,
) -> BackwardResult:
    """The backward of the node: the function once more, then a backward through what it made."""
    if turn.towards:
        raise TorchRaises(INVALID)
    if not turn.unpack():
        return BackwardResult(())
    node = turn.node
    mode, state.grad_mode = state.grad_mode, True
    try:
        again = [_detached(state, value, node) for value in args]
        result = _in_turn(machine, state, functions, again, node)
        roots = [key for key in direct(result) if resolve_view(state, key).requires_grad is not False]
        if not roots:
            raise TorchRaises(UNNECESSARY)
        reached = go_backward(machine, state, roots, node, False, False, None, inner=True)
    finally:
        state.grad_mode = mode
    own = {value.id for value in again if isinstance(value, TensorRef)}
    return BackwardResult(turn.item.inputs, reached=tuple(key for key in reached if key not in own))


def _detached(state: State, value: Value, node: ast.AST) -> Value:
    """An argument without its history, which requires grad as it did."""
    if not isinstance(value, TensorRef):
        return value
    tensor = resolve_view(state, value.id)
    key = fresh_id()
    state.tensors[key] = replace(
        tensor, id=key, created_at=state.point(node), grad_fn=None, base=None, view="", parameter=False
    )
    return TensorRef(key)
