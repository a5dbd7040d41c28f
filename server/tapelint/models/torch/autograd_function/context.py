"""``ctx`` of ``torch.autograd.Function``: what forward leaves there, and what backward finds.

ctx.save_for_backward(x)      # kept by the node; its version is taken when forward has returned
ctx.mark_dirty(x)             # x was written in place and is returned: it gets the node's history
x, = ctx.saved_tensors        # in backward: freed already? written meanwhile? PyTorch looks here
"""

from __future__ import annotations

from ....autograd import TorchRaises, resolve_view
from ....domain import facets
from ....domain.completion import ProgramRaised
from ....domain.state import State
from ....domain.values import (
    FALSE,
    NONE,
    TRUE,
    Class,
    Const,
    External,
    HeapRef,
    Instance,
    TensorRef,
    Tuple,
    Unknown,
    Value,
)
from ....engine.machine import Machine
from ..registry import ATTRIBUTES, FUNCTIONS, Call

CONTEXT = External("torch.autograd.function.FunctionCtx")
OWN = frozenset(
    {facets.FUNCTION, facets.SAVED, facets.ASKED, facets.DIRTY, facets.CONSTANT, facets.SPARSE, "needs_input_grad"}
)
"""Attributes of a context that are ours."""


def new_context(state: State, kind: HeapRef, needs: tuple[bool | None, ...]) -> HeapRef:
    """A context of the Function ``kind`` whose ``needs_input_grad`` is ``needs``."""
    known = tuple(Unknown("needs_input_grad", False) if n is None else TRUE if n else FALSE for n in needs)
    return HeapRef(state.new(Instance(CONTEXT, {facets.FUNCTION: kind, "needs_input_grad": Tuple(known)}, True)))


def function_name(state: State, context: HeapRef) -> str:
    """The name of the Function that a context belongs to."""
    kind = state.get(context.id, Instance).attributes[facets.FUNCTION]
    assert isinstance(kind, HeapRef)
    return state.get(kind.id, Class).name


def noted(state: State, context: HeapRef, name: str) -> tuple[Value, ...]:
    """What forward said with ``save_for_backward`` and the like."""
    value = state.get(context.id, Instance).attributes.get(name)
    return value.items if isinstance(value, Tuple) else ()


def tensors_noted(state: State, context: HeapRef, name: str) -> list[int]:
    return [v.id for v in noted(state, context, name) if isinstance(v, TensorRef)]


def kept_otherwise(state: State, context: HeapRef) -> dict[str, int]:
    """Tensors that forward put on the context itself: ``ctx.x = x``."""
    found = state.get(context.id, Instance).attributes.items()
    return {name: value.id for name, value in found if name not in OWN and isinstance(value, TensorRef)}


def _note(state: State, call: Call, name: str, values: tuple[Value, ...]) -> Value:
    context = call.args[0]
    if isinstance(context, HeapRef) and isinstance(state.heap[context.id], Instance):
        state.edit(context.id, Instance).attributes[name] = Tuple(values)
    return NONE


def save_for_backward(machine: Machine, state: State, call: Call) -> Value:
    """The last call counts. What the versions are now is remembered: writes until forward returns go unnoticed. Whether
    all are tensors PyTorch asks when forward has returned, and only if the node will be run.
    """
    given = tuple(call.args[1:])
    asked = [
        (v.id, state.version(resolve_view(state, v.id).version_counter)) for v in given if isinstance(v, TensorRef)
    ]
    _note(state, call, facets.ASKED, tuple(Const(pair) for pair in asked))
    return _note(state, call, facets.SAVED, given)


def mark_dirty(machine: Machine, state: State, call: Call) -> Value:
    return _note(state, call, facets.DIRTY, tuple(call.args[1:]))


def mark_non_differentiable(machine: Machine, state: State, call: Call) -> Value:
    return _note(state, call, facets.CONSTANT, tuple(call.args[1:]))


def set_materialize_grads(machine: Machine, state: State, call: Call) -> Value:
    return _note(state, call, facets.SPARSE, () if call.get(1, "value", TRUE) == TRUE else (TRUE,))


def save_for_forward(machine: Machine, state: State, call: Call) -> Value:
    """For ``jvp`` only."""
    return NONE


def saved_tensors(machine: Machine, state: State, receiver: HeapRef) -> Value:
    """In forward there are none yet. In backward PyTorch checks here that they are neither freed nor written."""
    turn = machine.node_visits.get(receiver.id)
    if turn is None:
        return Tuple(())
    try:
        turn.unpack()
    except TorchRaises as refused:
        raise ProgramRaised("RuntimeError", str(refused), by_torch=True) from None
    return Tuple(noted(state, receiver, facets.SAVED))


for _model in (
    save_for_backward,
    mark_dirty,
    mark_non_differentiable,
    set_materialize_grads,
    save_for_forward,
):
    FUNCTIONS[f"{CONTEXT.name}.{_model.__name__}"] = _model
ATTRIBUTES[f"{CONTEXT.name}.saved_tensors"] = saved_tensors
