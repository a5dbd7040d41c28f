"""A tensor as it is now: records are immutable, and what a view is depends on what happened to its base since.

v = y[:2]; y.mul_(w)   # v has a new history: that of y, seen through the view
"""

from __future__ import annotations

import ast
from dataclasses import replace

from ..state import AutogradState, fresh_id
from .graph import Leaf, Node, Tensor

UNRECORDED = ("no_grad", "inference")
"""Views that were not recorded: they require grad as their base does, and no gradient goes anywhere from them."""


def leaf(state: AutogradState, node: ast.AST, requires_grad: bool | None = False, **facts: object) -> int:
    """A new tensor without history: data, a parameter, a constant."""
    key = fresh_id()
    state.tensors[key] = Tensor(key, key, key, state.point(node), requires_grad, inference=state.inference, **facts)  # type: ignore[arg-type]
    return key


def resolve_view(state: AutogradState, key: int) -> Tensor:
    """The tensor ``key`` as it is now: a view whose base was written since has the base's new history.

    Looking does not give it that history for good; using it in an op does (``materialize_view``).
    """
    tensor = state.tensors[key]
    if tensor.base is None or tensor.parameter:
        return tensor
    version = state.version(tensor.version_counter)
    if version == tensor.view_version or tensor.view in UNRECORDED:
        return tensor
    base = resolve_view(state, tensor.base)
    if base.requires_grad or base.requires_grad is False and tensor.grad_fn is not None:
        edge = edge_of(base)
        edges = (edge,) if edge is not None else ()
        node = Node(fresh_id(), "as_strided", edges, tensor.created_at, results=(key,), grad_fn="AsStridedBackward0")
        return replace(tensor, grad_fn=node, requires_grad=True, view_version=version)
    return replace(tensor, view_version=version)


def contents(state: AutogradState, key: int) -> tuple[int, ...]:
    """Stands for the numbers in the tensor ``key``: it is another one after every write to its memory."""
    tensor = state.tensors[key]
    counted, of_memory = state.writes.get(tensor.version_counter), state.writes.get(tensor.storage)
    untracked = state.untracked_writes.get(tensor.storage)
    return (
        key,
        counted.stamp if counted is not None else 0,
        of_memory.stamp if of_memory is not None else 0,
        untracked.stamp if untracked is not None else 0,
    )


def memory_contents(state: AutogradState, key: int) -> tuple[int, ...]:
    """The same for all the memory that the tensor ``key`` has a part of."""
    return state.tensors[key].storage, *contents(state, key)[1:]


def materialize_view(state: AutogradState, key: int) -> Tensor:
    """The tensor ``key`` as an op finds it whose graph it becomes part of."""
    tensor = resolve_view(state, key)
    if tensor is not state.tensors[key]:
        state.tensors[key] = tensor
    return tensor


def edge_of(tensor: Tensor) -> Node | Leaf | None:
    """Where a gradient of ``tensor`` goes; None where it needs none for certain."""
    if tensor.requires_grad is False or tensor.grad_fn is None and tensor.view in UNRECORDED:
        return None
    return tensor.grad_fn or Leaf(tensor.id)
