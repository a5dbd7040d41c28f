"""The results of a custom ``Function``: what autograd makes of what forward returned, the node, and what it runs in
backward.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from ....autograd import (
    AutogradState,
    BackwardResult,
    Leaf,
    Node,
    NodeVisit,
    SavedTensor,
    Tensor,
    TorchRaises,
    bump,
    check_write,
    edge_of,
    fresh_id,
    give_history,
    leaf,
    resolve_view,
)
from ....autograd.events.custom_function import DirtyNotReturned
from ....autograd.passes.node_hooks import written
from ....domain import facets
from ....domain.completion import ProgramRaised
from ....domain.state import State, in_backward
from ....domain.values import NONE, Const, HeapRef, TensorRef, Tuple, Unknown, Value
from ....engine.machine import Machine
from .arity import Inputs, check_outputs, judged
from .context import noted, tensors_noted
from .hazards import altered_since_forward, backward_hazards, called_at, forward_hazards, kept_on_context, tell_kept
from .syntax import Definition, Given, class_given, parameters

NOT_RETURNED = "Some elements marked as dirty during the forward method were not returned as output."


def attach(
    machine: Machine,
    state: State,
    node: ast.AST,
    definition: Definition,
    given: Given,
    result: Value,
    needs: bool | None,
) -> Value:
    """Give the results the node. What was marked dirty is the same tensor with a new history; an input that is merely
    returned comes back as a view of itself.
    """
    values = result.items if isinstance(result, Tuple) else (result,)
    outputs = [v.id for v in values if isinstance(v, TensorRef)]
    dirty = [t for t in tensors_noted(state, definition.context, facets.DIRTY) if t in given.tensors]
    constant = set(tensors_noted(state, definition.context, facets.CONSTANT))
    for key in dirty:
        check_dirty(machine, state, node, definition, key, key in outputs, needs)
    renamed = {t: fresh_id() if t in given.tensors and t not in dirty else t for t in outputs}
    for key in dirty:
        bump(state, resolve_view(state, key).version_counter, definition.name, node, tensor=key)
    graph: Node | None = None
    if needs is not False:
        saved = saved_by(state, definition.context, outputs, given, dirty)
        graph = node_of(machine, state, node, definition, given, result, tuple(renamed.values()), saved, needs is True)
    for old, new in renamed.items():
        _give(state, old, new, graph, needs, old in constant, old in dirty, node)
        if state.tensors[new].requires_grad is not False:
            # What forward computes has no graph for its own part.
            machine.facts.origins.provenance[new] = replace(machine.facts.provenance_of(new), cut=None)
    if needs:
        forward_hazards(machine.facts, state, definition, given, node)
    return with_names(result, renamed)


def check_dirty(
    machine: Machine, state: State, node: ast.AST, definition: Definition, key: int, returned: bool, needs: bool | None
) -> None:
    """What forward marked dirty it must return, and it must be allowed to write to it."""
    if not returned:
        place = called_at(definition.preparing, "mark_dirty") or node
        machine.facts.events.publish(
            DirtyNotReturned(point=state.point(node), function=definition.name, tensor=key, place=place)
        )
        raise ProgramRaised("RuntimeError", NOT_RETURNED, by_torch=True)
    try:
        check_write(machine.facts, state, resolve_view(state, key), definition.name, node, needs)
    except TorchRaises as refused:
        raise ProgramRaised("RuntimeError", str(refused), by_torch=True) from None


def node_of(
    machine: Machine,
    state: State,
    node: ast.AST,
    definition: Definition,
    given: Given,
    result: Value,
    results: tuple[int, ...],
    saved: tuple[SavedTensor, ...],
    certain: bool,
) -> Node:
    """The graph node of one call, whose backward is the program's own."""
    pairs = [(v, edge_of(resolve_view(state, v.id)) if isinstance(v, TensorRef) else None) for v in given.values]
    graph = Node(
        fresh_id(),
        definition.name,
        tuple(dict.fromkeys(edge for _, edge in pairs if edge is not None)),
        state.point(node),
        saved,
        bool(saved),
        certain,
        results=results,
        grad_fn=f"{definition.name}Backward",
        operand_ids=tuple(given.tensors),
        custom_backward=backward_of(machine, state, definition, result, tuple(pairs), node, given.exact),
    )
    machine.facts.memory.saved.update(item.version_counter for item in saved)
    return graph


def with_names(result: Value, renamed: dict[int, int]) -> Value:
    """What forward returned, with each tensor under the id it has outside of forward."""
    if isinstance(result, TensorRef):
        return TensorRef(renamed[result.id])
    if isinstance(result, Tuple):
        items = tuple(TensorRef(renamed[v.id]) if isinstance(v, TensorRef) else v for v in result.items)
        return replace(result, items=items)
    return result


def saved_by(
    state: State, context: HeapRef, outputs: list[int], given: Given, dirty: list[int]
) -> tuple[SavedTensor, ...]:
    """What the node keeps, with the versions at the end of forward."""
    kept: list[SavedTensor] = []
    for value in noted(state, context, facets.SAVED):
        if isinstance(value, TensorRef):
            record = resolve_view(state, value.id)
            own = value.id in outputs and (value.id not in given.tensors or value.id in dirty)
            role = "result" if own else "input" if value.id in given.tensors else "intermediate"
            kept.append(SavedTensor(role, value.id, record.version_counter, state.version(record.version_counter)))
    return state.packed(kept)


def _give(
    state: State,
    old: int,
    new: int,
    graph: Node | None,
    needs: bool | None,
    constant: bool,
    dirty: bool,
    node: ast.AST,
) -> None:
    """The record of one output. Integers need no gradient; whether other results of an op without derivative are
    integers is not known.
    """
    record = resolve_view(state, old)
    if constant or record.kind in ("int", "bool"):
        needs, graph = False, None
    elif record.kind == "other" and needs:
        needs = None
    shared = record.base if record.base is not None else old if new != old else None
    seen = state.version(record.version_counter)
    if not dirty:
        state.tensors[new] = replace(
            record,
            id=new,
            created_at=state.point(node),
            requires_grad=needs,
            grad_fn=graph,
            base=shared,
            view="" if shared is None else "multi" if needs else "view",
            view_version=seen,
            parameter=False,
        )
    elif graph is not None and record.base is None:
        give_history(state, record, graph, needs)
    elif graph is not None:
        _give_view(state, record, graph, needs, node)


def _give_view(state: State, record: Tensor, graph: Node, needs: bool | None, node: ast.AST) -> None:
    """A view that was marked dirty: its base gets the history, as with any write to a view."""
    assert record.base is not None
    base = resolve_view(state, record.base)
    point = state.point(node)
    edges: tuple[Node | Leaf, ...] = (graph,) if (old := edge_of(base)) is None else (old, graph)
    copy = Node(fresh_id(), graph.op, edges, point, (), True, needs is True, grad_fn="CopySlices", results=(base.id,))
    give_history(state, base, copy, needs)
    part = Node(fresh_id(), "as_strided", (copy,), point, certain=needs is True, results=(record.id,))
    give_history(state, record, part, needs, state.version(record.version_counter))


def backward_of(
    machine: Machine,
    state: State,
    definition: Definition,
    outcome: Value,
    inputs: Inputs,
    node: ast.AST,
    exact: bool,
) -> Callable[[AutogradState, NodeVisit], BackwardResult] | None:
    """What runs when a pass reaches the node; None where the class does not say."""
    function = definition.backward
    if function is None:
        return None
    outputs = outcome.items if isinstance(outcome, Tuple) else (outcome,)
    kept = kept_on_context(state, definition, outputs, tuple(value for value, _ in inputs))
    tell_kept(machine.facts, state, definition, kept, node)

    def method(state: State, turn: NodeVisit) -> BackwardResult:
        check_outputs(machine, state, definition, outcome, turn)
        altered_since_forward(machine.facts, state, definition, kept, turn)
        before = {saved.version_counter: state.version(saved.version_counter) for saved in turn.item.saved}
        gradients = [gradient(machine, state, definition, v, turn, i) for i, v in enumerate(outputs)]
        outer = (state.grad_mode, state.inference, state.frame, state.calls, state.iterations)
        state.grad_mode, state.inference = turn.create, False
        around = machine.node_visits  # a backward of its own may come back to the same context
        machine.node_visits = {**around, definition.context.id: turn}
        try:
            arguments = [*class_given(function, definition.kind), definition.context, *gradients]
            result = machine.call(state, function, arguments, {}, turn.node)
        finally:
            machine.node_visits = around
            state.grad_mode, state.inference, state.frame, state.calls, state.iterations = outer
        backward_hazards(machine.facts, state, definition, turn, before)
        for given in gradients:
            if isinstance(given, TensorRef):
                written(machine.facts, state, turn.order, turn.item, given.id)
        return judged(machine, state, definition, turn, inputs, result, exact)

    return in_backward(method)


def gradient(
    machine: Machine, state: State, definition: Definition, output: Value, turn: NodeVisit, index: int
) -> Value:
    """What backward is given for one output."""
    assert definition.backward is not None
    if isinstance(output, (Const, HeapRef)):
        return NONE
    if noted(state, definition.context, facets.SPARSE):
        return Unknown("gradient")
    made = leaf(state, turn.node, False if turn.create is False else None)
    names = parameters(definition.backward)[1:]
    machine.facts.name(made, names[index] if index < len(names) else "the gradient")
    return TensorRef(made)
