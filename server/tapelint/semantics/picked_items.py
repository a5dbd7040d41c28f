"""What of a container an index picks, where the index is not known: another index may pick another thing.

losses[i].backward()
losses[i].backward()      the same tensor again
losses[j].backward()      it or another one: unknown
losses[0].backward()      unknown, too, if the tensor that stands for `losses[i]` is the first

memory[i] = h; memory[j]  `h`: what is kept under keys that are not known is kept to be found again
memory["a"]; memory["b"]  what was kept under one of these, and another one of these

nets[i]; nets[i]          the same network
nets[j]                   it or another one: unknown; in the next iteration `nets[j]` may well be `nets[i]`
"""

from __future__ import annotations

from collections.abc import Hashable

from ..domain.options import settled
from ..domain.state import State
from ..domain.values import BuiltinMethod, HeapRef, Optimizer, TensorRef, Unknown, Value, as_key
from ..engine.machine import Machine
from ..models.torch.nn.module_registry import is_module_like

KNOWN = "known"


def at_unknown_index(
    machine: Machine, state: State, owner: int, found: Value, items: list[Value], index: Value
) -> Value:
    """The item of a container, by its heap id (0 for a tuple), at an unknown place; ``found`` stands for all."""
    if len(items) > 1 and (key := _identity(state, found)) is not None:
        taken = _name_of(index), state.iterations
        by = machine.facts.objects.picked_objects.setdefault((owner, key), taken)
        return Unknown("item") if by[1] == taken[1] and by[0] != taken[0] else found
    picked, name = machine.facts.objects.picked, _name_of(index)
    is_again = not _is_known(name) and (len(items) == 1 or owner in machine.facts.objects.filled)
    if is_again or not _has_history(state, found):
        return found
    tensors = [item for item in reversed(items) if isinstance(item, TensorRef)]
    for item in tensors:
        if picked.get((owner, item.id)) == name:
            return item
    for item in tensors:
        if (owner, item.id) not in picked:
            picked[owner, item.id] = name
            return item
    return Unknown("item")


def at_known_index(machine: Machine, state: State, owner: int, item: Value, index: Value) -> Value:
    """The ``item`` at a known place, unless it stands for the one at a place that is not known."""
    if not isinstance(item, TensorRef) or not _has_history(state, item):
        return item
    name = _name_of(index)
    by = machine.facts.objects.picked.setdefault((owner, item.id), name)
    return item if by == name or _is_known(by) else Unknown("item")


def stored(machine: Machine, owner: int, index: Value) -> None:
    """An item is stored at ``index``. What is written at places that are not known is read at others in its time."""
    if as_key(settled(index)) is None:
        machine.facts.objects.filled.add(owner)


def _has_history(state: State, value: Value) -> bool:
    """Whether it matters which tensor it is: it has a graph, or a gradient."""
    return isinstance(value, TensorRef) and state.tensors[value.id].requires_grad is not False


def _identity(state: State, value: Value) -> int | None:
    """The heap id of a network or an optimizer, which differ by what becomes of their parameters."""
    if not isinstance(value, HeapRef):
        return None
    return value.id if is_module_like(state, value) or isinstance(state.heap[value.id], Optimizer) else None


def _is_known(name: Hashable) -> bool:
    return isinstance(name, tuple) and name[:1] == (KNOWN,)


def _name_of(index: Value) -> Hashable:
    """What equal indices have in common: their value (``KNOWN`` first), or how they were computed."""
    key = as_key(settled(index))
    if key is not None:
        return KNOWN, key
    if isinstance(index, BuiltinMethod):  # an attribute of something unknown
        return _name_of(index.receiver), index.name
    return (index.formula or index.tensor_id) if isinstance(index, Unknown) else None
