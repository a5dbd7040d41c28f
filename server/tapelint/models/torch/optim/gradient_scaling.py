"""``torch.amp.GradScaler``: scaled losses, and steps of the optimizer that it takes."""

from __future__ import annotations

import ast
from dataclasses import replace

from ....autograd import (
    Provenance,
    leaf,
)
from ....autograd.events.training_step import ScaledStep
from ....autograd.gradients import history
from ....because import guess
from ....domain.state import State
from ....domain.values import (
    FALSE,
    NONE,
    TRUE,
    External,
    HeapRef,
    Instance,
    Optimizer,
    TensorRef,
    Value,
)
from ....engine.machine import Machine
from ....engine.paths.switches import switch_kept
from ..dispatch import run
from ..registry import Call, function
from .optimizers import advance


@function("torch.cuda.amp.GradScaler", "torch.amp.GradScaler", "torch.cuda.amp.grad_scaler.GradScaler")
def scaler(machine: Machine, state: State, call: Call) -> Value:
    return HeapRef(state.new(Instance(External("torch.amp.GradScaler"), {"enabled": call.kwargs.get("enabled", TRUE)})))


@function("torch.amp.GradScaler.scale")
def scale(machine: Machine, state: State, call: Call) -> Value:
    """The loss times a tensor: one more node, which saves the scale."""
    loss = call.get(1, "outputs")
    if not isinstance(loss, TensorRef):
        return loss
    scaler = call.args[0]
    thing = state.heap[scaler.id] if isinstance(scaler, HeapRef) else None
    enabled = thing.attributes.get("enabled", TRUE) if isinstance(thing, Instance) else FALSE
    is_enabled, premise = switch_kept(machine, state, enabled)
    if is_enabled is False:
        return loss
    factor = TensorRef(leaf(state, call.node))
    scaled = run(machine, state, "mul", [loss, factor], {}, call.node) or loss
    if isinstance(scaled, TensorRef):
        point = state.point(call.node)
        scaled_at = replace(point, supposed=premise) if premise else point
        machine.facts.record_provenance(scaled.id, Provenance(scaled=scaled_at))
    return scaled


@function("torch.amp.GradScaler.step")
def scaled_step(machine: Machine, state: State, call: Call) -> Value:
    optimizer = call.get(1, "optimizer")
    if isinstance(optimizer, HeapRef) and isinstance(state.heap[optimizer.id], Optimizer):
        function = call.node.func if isinstance(call.node, ast.Call) else None
        if not state.get(optimizer.id, Optimizer).params:  # it was handed in
            _tell_scaled(machine, state, call)
        inner = Call("step", call.args[2:], {}, call.node)
        return advance(
            machine, state, optimizer, inner, function.value if isinstance(function, ast.Attribute) else None
        )
    _tell_scaled(machine, state, call)
    own = machine.load_attribute(
        state, optimizer, "step", call.node
    )  # the program's own optimizer, or it is unknown whose
    return machine.call(state, own, call.args[2:], {}, call.node, call.key)


def _tell_scaled(machine: Machine, state: State, call: Call) -> None:
    """``scaler.step(optimizer)``, where it is not known what the optimizer holds."""
    clipped = [(past, keys) for past, keys in history.groups(state, list(state.history)) if past.clip is not None]
    node = call.node
    if clipped and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        optimizer = node.args[0]
        machine.facts.events.publish(
            ScaledStep(
                point=state.point(node),
                because=guess(f"`{ast.unparse(optimizer)}` is an optimizer of what is clipped"),
                optimizer=optimizer,
                scaler=node.func.value,
                past=tuple(clipped),
                premises=machine.facts.relevant_assumptions(state),
            )
        )


@function("torch.amp.GradScaler.unscale_")
def unscale(machine: Machine, state: State, call: Call) -> Value:
    optimizer = call.get(1, "optimizer")
    thing = state.heap[optimizer.id] if isinstance(optimizer, HeapRef) else None
    held = thing.params if isinstance(thing, Optimizer) else []
    history.unscaled(state, held or list(state.history))
    return NONE
