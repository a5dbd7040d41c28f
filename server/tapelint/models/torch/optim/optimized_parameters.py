"""What an optimizer is given to optimize: parameters, or groups of them, and what PyTorch refuses of that."""

from __future__ import annotations

from collections.abc import Iterator

from ....autograd import (
    resolve_view,
)
from ....autograd.events.broken_graph import NonLeafOptimized, NothingToOptimize
from ....because import NOTHING
from ....domain.completion import ProgramRaised
from ....domain.state import State
from ....domain.traversal import listed, tensors_in
from ....domain.values import (
    Const,
    Generator,
    HeapRef,
    Instance,
    Mapping,
    Sequence,
    TensorRef,
    Tuple,
    Unknown,
    Value,
    Zip,
)
from ....engine.machine import Machine
from ..autograd.tensor_hooks import retains
from ..devices import copies, may_have_moved
from ..nn.unregistered import leaves_in_containers, wrapper_for
from ..registry import Call
from ..tensor_conversions import MOVED


def parameters_in(state: State, given: Value) -> Iterator[int]:
    """The tensors in parameters or groups of them; the options of a group may be tensors, too (``lr``)."""
    items = listed(state, given)
    for item in [given] if items is None else items:
        group = state.heap[item.id] if isinstance(item, HeapRef) else None
        held = group.items.get("params", item) if isinstance(group, Mapping) else item
        yield from tensors_in(state, held, 4)


def may_hold_more(machine: Machine, state: State, given: Value, depth: int = 4) -> bool:
    """Whether parameters, or groups of them, are not all known. What ``parameters()`` gave is of its own network."""
    thing = state.heap[given.id] if isinstance(given, HeapRef) and depth else given
    if isinstance(given, HeapRef) and given.id in machine.facts.networks.parameters_requested_by:
        return False
    if isinstance(thing, Mapping) and "params" in thing.items:
        return may_hold_more(machine, state, thing.items["params"], depth - 1)
    if isinstance(thing, (Sequence, Tuple)):
        is_open = isinstance(thing, Sequence) and thing.is_partial
        return is_open or any(may_hold_more(machine, state, item, depth - 1) for item in thing.items)
    return not isinstance(thing, (TensorRef, Const))


def refuse_hidden(machine: Machine, state: State, given: Value, call: Call) -> None:
    """An optimizer is given what ``parameters()`` found, and that is nothing: all there is lies in plain containers."""
    module = machine.facts.networks.parameters_requested_by.get(given.id) if isinstance(given, HeapRef) else None
    thing = state.heap[module] if module is not None else None
    if (
        not isinstance(thing, Instance)
        or thing.is_partial
        or any(isinstance(v, Unknown) for v in thing.attributes.values())
    ):
        return
    for name, value in thing.attributes.items():
        leaves = tuple(leaves_in_containers(state, value))
        home = machine.facts.origins.attribute_stores.get((module, name)) if module is not None else None
        if leaves and home is not None:
            machine.facts.events.publish(
                NothingToOptimize(
                    point=state.point(call.node),
                    leaves=leaves,
                    attribute=home[0],
                    value=home[1],
                    wrapper=wrapper_for(state, value),
                )
            )
            raise ProgramRaised("ValueError", "optimizer got an empty parameter list", by_torch=True)


def refuse_empty(state: State, given: Value) -> None:
    """An optimizer must be given some parameter; a list that may hold more than is known is no empty one."""
    listed = state.heap[given.id] if isinstance(given, HeapRef) else None
    if isinstance(listed, Sequence) and not listed.items and not listed.is_partial:
        raise ProgramRaised("ValueError", "optimizer got an empty parameter list", by_torch=True)


def is_groups(state: State, given: Value) -> bool:
    """Whether an optimizer was given dicts: it keeps them, and adds to each what it was not given."""
    thing = state.heap[given.id] if isinstance(given, HeapRef) else None
    return isinstance(thing, Sequence) and bool(thing.items) and all(_is_dict(state, item) for item in thing.items)


def _is_dict(state: State, value: Value) -> bool:
    return isinstance(value, HeapRef) and isinstance(state.heap[value.id], Mapping)


def is_moved(state: State, key: int) -> bool:
    """Whether a tensor is what ``leaf.to(device)`` gave: the leaf itself, or a copy that an optimizer refuses."""
    made = resolve_view(state, key).grad_fn
    return made is not None and made.op == MOVED


def refuse_computed(machine: Machine, state: State, keys: list[int], call: Call) -> None:
    """Only leaves collect a ``.grad`` of themselves, or what was asked to keep it."""
    for key in keys:
        tensor = resolve_view(state, key)
        made = tensor.grad_fn
        if made is None or not tensor.requires_grad or tensor.assumption or not made.certain or retains(state, key):
            continue
        is_copy = is_moved(state, key)
        if is_copy and not may_have_moved(machine, key):
            continue
        because = copies(tensor.created_at.node) if is_copy else NOTHING
        point, made_at = state.point(call.node), tensor.created_at
        machine.facts.events.publish(NonLeafOptimized(point=point, because=because, tensor=key, created_at=made_at))
        if is_copy:
            continue
        raise ProgramRaised("ValueError", "can't optimize a non-leaf Tensor", by_torch=True)


def collected(machine: Machine, state: State, value: Value, call: Call) -> Value:
    """Generators and filters run to a list, so that what they hold can be seen."""
    if isinstance(value, (Generator, Zip)):
        return HeapRef(state.new(Sequence("list", machine.iterate(state, value, call.node, 8).values)))
    return value
