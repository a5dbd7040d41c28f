"""Parameters in plain containers, where ``parameters()`` does not look.

self.blocks = [nn.Linear(8, 8) for _ in range(3)]     a list: ``nn.ModuleList`` would register them
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ....domain.state import State
from ....domain.values import HeapRef, Mapping, Sequence, TensorRef, Tuple, Value
from .module_registry import is_module_like, parameters_of


def leaves_below(state: State, value: Value) -> list[int]:
    """The parameters that ``value.parameters()`` gives."""
    return [key for _, key in parameters_of(state, value)]


def leaves_in_containers(state: State, value: Value, depth: int = 3) -> Iterator[int]:
    """The leaves in a plain container, of networks or by themselves, and in those that it holds, so many deep."""
    for item in _contents(state, value) or () if depth else ():
        if isinstance(item, TensorRef):
            yield item.id
        elif is_module_like(state, item):
            yield from leaves_below(state, item)
        else:
            yield from leaves_in_containers(state, item, depth - 1)


def _contents(state: State, value: Value) -> Iterable[Value] | None:
    """What a plain container holds; None of anything else."""
    if isinstance(value, Tuple):
        return value.items
    thing = state.heap[value.id] if isinstance(value, HeapRef) else None
    if isinstance(thing, Sequence) and not is_module_like(state, value):
        return thing.items
    return thing.items.values() if isinstance(thing, Mapping) and thing.kind == "dict" else None


def wrapper_for(state: State, value: Value) -> str | None:
    """What of ``torch.nn`` registers what ``value`` holds."""
    if isinstance(value, TensorRef):
        return "Parameter"
    items = list(_contents(state, value) or ())
    if all(is_module_like(state, item) for item in items):
        what = "Module"
    elif all(isinstance(item, TensorRef) for item in items):
        what = "Parameter"
    else:
        return None
    thing = state.heap[value.id] if isinstance(value, HeapRef) else None
    if isinstance(thing, Mapping):
        return f"{what}Dict" if all(isinstance(key, str) for key in thing.items) else None
    return f"{what}List" if not isinstance(thing, Sequence) or thing.kind == "list" else None
