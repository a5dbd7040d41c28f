"""``torch.autograd.Function``: a node the program defines itself. Its forward runs without grad; what it saves the
node keeps.
"""

from __future__ import annotations

from dataclasses import replace

from ...tape import Leaf, Node, SavedTensor, State, Tape, Tensor, current, fresh_id
from ..assign import tensors_in
from ..attributes import find
from ..calls import call_value
from ..machine import Machine
from ..values import NONE, Class, Instance, Lib, Ref, TensorRef, Tuple, Unknown, Value
from .registry import FUNCTIONS, Call, function

SAVED = "(saved)"
CONTEXT = Lib("torch.autograd.function.FunctionCtx")


@function("torch.autograd.Function.apply", "torch.autograd.function.Function.apply")
def apply(m: Machine, state: State, call: Call) -> Value:
    """``Cls.apply(...)``; the class comes as the first argument."""
    kind = call.args[0]
    found = find(state, kind, "forward")
    if found is None or found[1] is None or not isinstance(kind, Ref):
        return Unknown("apply")
    context = Ref(state.new(Instance(CONTEXT, {}, True)))
    mode, state.grad_mode = state.grad_mode, False
    try:
        result = call_value(m, state, found[1], [context, *call.args[1:]], call.kwargs, call.node)
    finally:
        state.grad_mode = mode
    inputs = [current(state, t) for v in call.args[1:] for t in tensors_in(state, v)]
    edges = tuple(dict.fromkeys(t.grad_fn or Leaf(t.id) for t in inputs if t.requires_grad))
    if not edges or mode is not True:
        return result
    kept = state.heap[context.id].attributes.get(SAVED)
    thing = state.heap[kind.id]
    return attach(
        m.tape,
        state,
        result,
        thing.name if isinstance(thing, Class) else "Function",
        edges,
        kept,
        call,
        tuple(t.id for t in inputs),
    )


def attach(
    tape: Tape,
    state: State,
    result: Value,
    name: str,
    edges: tuple[Node | Leaf, ...],
    kept: Value | None,
    call: Call,
    anchors: tuple[int, ...],
) -> Value:
    """Give the results the node. A result that is an input comes back as a new tensor with the same memory."""
    outputs = list(tensors_in(state, result))
    given = set(anchors)
    renamed = {t: fresh_id() if t in given else t for t in outputs}
    saved = []
    for tensor in tensors_in(state, kept) if kept is not None else ():
        record = current(state, tensor)
        role = "result" if tensor in outputs and tensor not in given else "input"
        saved.append(SavedTensor(role, tensor, record.counter, state.version(record.counter)))
    tape.saved.update(item.counter for item in saved)
    graph = Node(
        fresh_id(),
        name,
        edges,
        state.moment(call.node),
        tuple(saved),
        bool(saved),
        results=tuple(renamed.values()),
        grad_fn=f"{name}Backward",
        anchors=anchors,
    )
    for old, new in renamed.items():
        record = current(state, old)
        state.tensors[new] = Tensor(
            new, record.counter, record.memory, state.moment(call.node), True, graph, seen=state.version(record.counter)
        )
    if isinstance(result, TensorRef):
        return TensorRef(renamed[result.id])
    if isinstance(result, Tuple):
        return replace(
            result, items=tuple(TensorRef(renamed[v.id]) if isinstance(v, TensorRef) else v for v in result.items)
        )
    return result


def save_for_backward(m: Machine, state: State, call: Call) -> Value:
    context = call.args[0]
    assert isinstance(context, Ref)
    state.edit(context.id).attributes[SAVED] = Tuple(tuple(call.args[1:]))
    return NONE


FUNCTIONS[f"{CONTEXT.name}.save_for_backward"] = save_for_backward
