"""``copy.copy`` and ``copy.deepcopy``."""

from __future__ import annotations

from dataclasses import replace

from ...tape import State, current, leaf
from ..machine import Machine, Raised
from ..values import Class, Function, Instance, Mapping, Optimizer, Ref, Sequence, TensorRef, Tuple, Value
from .registry import Call, function


@function("copy.deepcopy", "copy.copy")
def copied(m: Machine, state: State, call: Call) -> Value:
    """Tensors are copied as leaves are: new parameters. A graph tensor cannot be deep-copied; ``copy.copy`` shares."""
    value = call.get(0, "x")
    if call.name == "copy.copy":
        return Ref(state.new(state.heap[value.id].copy())) if isinstance(value, Ref) else value
    return _deep(m, state, value, call, {})


def _deep(m: Machine, state: State, value: Value, call: Call, done: dict[Value, Value]) -> Value:
    if value in done:
        return done[value]
    if isinstance(value, TensorRef):
        origin = current(state, value.id)
        if origin.grad_fn is not None and not origin.assumed:
            raise Raised(
                "RuntimeError",
                "Only Tensors created explicitly by the user support the deepcopy protocol",
                by_torch=True,
            )
        made = leaf(state, call.node, origin.requires_grad, parameter=origin.parameter)
        state.tensors[made] = replace(
            state.tensors[made], assumed=origin.assumed, of_module=origin.of_module, kind=origin.kind
        )
        done[value] = TensorRef(made)
        return done[value]
    if isinstance(value, Tuple):
        return Tuple(tuple(_deep(m, state, v, call, done) for v in value.items), value.names)
    if not isinstance(value, Ref):
        return value
    thing = state.heap[value.id]
    if isinstance(thing, (Class, Optimizer)) or isinstance(thing, Function):
        return value
    twin = thing.copy()
    made_ref = done[value] = Ref(state.new(twin))
    if isinstance(twin, Instance):
        twin.attributes = {k: _deep(m, state, v, call, done) for k, v in twin.attributes.items()}
    elif isinstance(twin, Sequence):
        twin.items = [_deep(m, state, v, call, done) for v in twin.items]
    elif isinstance(twin, Mapping):
        twin.items = {k: _deep(m, state, v, call, done) for k, v in twin.items.items()}
    return made_ref
