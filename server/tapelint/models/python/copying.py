"""``copy.copy`` and ``copy.deepcopy``."""

from __future__ import annotations

from dataclasses import replace

from ...autograd import leaf, recorded, resolve_view
from ...domain.mro import lookup_in_mro
from ...domain.state import State
from ...domain.values import (
    BuiltinMethod,
    Class,
    HeapRef,
    Instance,
    Mapping,
    Optimizer,
    Sequence,
    TensorRef,
    Tuple,
    Value,
)
from ...engine.machine import Machine
from ..torch.autograd.backward_calls import nth_argument
from ..torch.registry import Call, function
from .arrays import refuse


@function("copy.deepcopy", "copy.copy")
def copied(machine: Machine, state: State, call: Call) -> Value:
    """Tensors are copied as leaves are: new parameters. A graph tensor cannot be deep-copied; ``copy.copy`` shares."""
    value = call.get(0, "x")
    if call.name == "copy.copy":
        return HeapRef(state.new(state.heap[value.id].copy())) if isinstance(value, HeapRef) else value
    return deep_copy(machine, state, value, call)


def deep_copy(machine: Machine, state: State, value: Value, call: Call) -> Value:
    held = graphs_in(machine, state, value, (), set())
    if held:
        refuse(machine, state, held, call, "deepcopy", nth_argument(call, 0, "x"))
    return _deep(machine, state, value, call, {})


def graphs_in(
    machine: Machine, state: State, value: Value, trail: tuple[str | int, ...], seen: set[int]
) -> list[tuple[int, tuple[str | int, ...]]]:
    """The tensors below ``value`` that are no leaves for certain, with the attributes and keys that lead to them, and
    the gradients of leaves if those are recorded.
    """
    if isinstance(value, TensorRef):
        return _graph_of(machine, state, value.id, trail)
    if isinstance(value, Tuple):
        return [hit for i, item in enumerate(value.items) for hit in graphs_in(machine, state, item, (*trail, i), seen)]
    if not isinstance(value, HeapRef) or value.id in seen:
        return []
    seen.add(value.id)
    parts = _copied_parts(state, state.heap[value.id])
    return [hit for name, item in parts for hit in graphs_in(machine, state, item, (*trail, name), seen)]


def _graph_of(
    machine: Machine, state: State, key: int, trail: tuple[str | int, ...]
) -> list[tuple[int, tuple[str | int, ...]]]:
    """A tensor itself if it is no leaf for certain, or its gradient if that is recorded; or nothing."""
    tensor = resolve_view(state, key)
    if tensor.grad_fn is None and not tensor.parameter and recorded(machine.facts, state, key):
        return [(state.grads[key], (*trail, "grad"))]  # it is copied along; a parameter leaves it behind
    known = tensor.grad_fn is not None and tensor.requires_grad and not tensor.assumption
    return [(key, trail)] if known else []


def _copied_parts(state: State, thing: object) -> list[tuple[str | int, Value]]:
    """What ``deepcopy`` copies of an object on the heap: nothing where its class has a ``__deepcopy__`` of its own."""
    match thing:
        case Instance():
            own = lookup_in_mro(state, thing.kind, "__deepcopy__")
            return list(thing.attributes.items()) if own is None or own[1] is None else []
        case Sequence():
            return list(enumerate(thing.items))
        case Mapping():
            return list(thing.items.items())
    return []


def _deep(machine: Machine, state: State, value: Value, call: Call, done: dict[Value, Value]) -> Value:
    if value in done:
        return done[value]
    match value:
        case TensorRef():
            done[value] = _copied_leaf(machine, state, value, call)
            return done[value]
        case Tuple():
            return Tuple(tuple(_deep(machine, state, v, call, done) for v in value.items), value.names)
        case BuiltinMethod():  # or a part of a network of whose code nothing is known
            return BuiltinMethod(_deep(machine, state, value.receiver, call, done), value.name)
        case HeapRef() if not isinstance(state.heap[value.id], (Class, Optimizer)):
            twin = state.heap[value.id].copy()
            done[value] = HeapRef(state.new(twin))
            _copy_parts(machine, state, twin, call, done)
            return done[value]
    return value


def _copied_leaf(machine: Machine, state: State, tensor: TensorRef, call: Call) -> TensorRef:
    origin = resolve_view(state, tensor.id)
    made = leaf(state, call.node, origin.requires_grad, parameter=origin.parameter)
    state.tensors[made] = replace(
        state.tensors[made],
        assumption=origin.assumption,
        stands_for_module=origin.stands_for_module,
        is_guessed=origin.is_guessed,
        kind=origin.kind,
    )
    for known in (machine.facts.networks.proven_networks, machine.facts.contents.optional):
        if origin.id in known:
            known.add(made)
    return TensorRef(made)


def _copy_parts(machine: Machine, state: State, twin: object, call: Call, done: dict[Value, Value]) -> None:
    """Give a new object copies of what it holds."""
    match twin:
        case Instance():
            twin.attributes = {k: _deep(machine, state, v, call, done) for k, v in twin.attributes.items()}
        case Sequence():
            twin.items = [_deep(machine, state, v, call, done) for v in twin.items]
        case Mapping():
            twin.items = {k: _deep(machine, state, v, call, done) for k, v in twin.items.items()}
