"""Results of a node that PyTorch implements in Python: checkpoints, module hooks.

a, b = checkpoint(f, x, use_reentrant=True)    # two results of one CheckpointFunction node
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...autograd import BackwardResult, Leaf, Node, NodeVisit, SavedTensor, Tensor, fresh_id, resolve_view
from ...autograd.model.graph import ViewKind
from ...domain.state import State, in_backward
from ...domain.values import TensorRef, Tuple, Value
from .registry import Call


def direct(value: Value) -> list[int]:
    """The tensors a custom Function sees in what it is given or returns: itself, or the items of a tuple."""
    items = value.items if isinstance(value, Tuple) else (value,)
    return [item.id for item in items if isinstance(item, TensorRef)]


def edges_of(state: State, keys: list[int]) -> tuple[Node | Leaf, ...]:
    found = [resolve_view(state, key) for key in keys]
    return tuple(dict.fromkeys(t.grad_fn or Leaf(t.id) for t in found if t.requires_grad))


def give_node(state: State, result: Value, graph: Node, view: ViewKind = "") -> Value:
    """``result`` as the node ``graph`` returns it.

    Without ``view`` each tensor is what it was, with a new history; with it each is an alias of what it was.
    """
    renamed = {key: fresh_id() for key in direct(result) if _differentiable(state, key, view)}
    graph = replace(graph, results=tuple(renamed.values()))
    for old, new in renamed.items():
        source = resolve_view(state, old)
        base = source.base if source.base is not None else source.id
        state.tensors[new] = Tensor(
            new,
            source.version_counter,
            source.storage,
            graph.created_at,
            True,
            graph,
            base if view else None,
            view,
            state.version(source.version_counter),
            source.sizes,
            source.kind,
        )
    if isinstance(result, Tuple):
        items = tuple(TensorRef(renamed.get(v.id, v.id)) if isinstance(v, TensorRef) else v for v in result.items)
        return replace(result, items=items)
    return TensorRef(renamed.get(result.id, result.id)) if isinstance(result, TensorRef) else result


def _differentiable(state: State, key: int, view: ViewKind) -> bool:
    tensor = resolve_view(state, key)
    return tensor.requires_grad is not False if view else tensor.kind not in ("int", "bool")


def python_node(
    state: State,
    name: str,
    inputs: list[int],
    call: Call,
    saved: tuple[SavedTensor, ...] = (),
    method: Callable[[State, NodeVisit], BackwardResult] | None = None,
) -> Node:
    """A node whose backward is written in Python."""
    return Node(
        fresh_id(),
        name,
        edges_of(state, inputs),
        state.point(call.node),
        saved,
        bool(saved),
        grad_fn=f"{name}Backward",
        operand_ids=tuple(inputs),
        custom_backward=None if method is None else in_backward(method),
    )
