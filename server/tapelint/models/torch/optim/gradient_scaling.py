"""``torch.amp.GradScaler``: scaled losses, and steps of the optimizer that it takes."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace

from ....autograd import (
    ProgramPoint,
    Provenance,
    leaf,
)
from ....autograd.events.training_step import ScaledStep, ScalerMethod, ScalerMisused
from ....autograd.gradients import history
from ....autograd.model.program_point import earlier_iteration
from ....because import NOTHING, Because, guess
from ....domain import facets
from ....domain.completion import ProgramRaised
from ....domain.state import State
from ....domain.values import (
    FALSE,
    NONE,
    TRUE,
    Const,
    External,
    HeapRef,
    Instance,
    Optimizer,
    TensorRef,
    Tuple,
    Unknown,
    Value,
)
from ....engine import open_objects
from ....engine.machine import Machine
from ....engine.paths.switches import switch_kept
from ..autograd.grad_use import reason_of
from ..dispatch import run, tensor_of
from ..registry import Call, function
from .handed_optimizers import standing_leaf
from .optimizers import advance
from .own_optimizers import held_by


@function("torch.cuda.amp.GradScaler", "torch.amp.GradScaler", "torch.cuda.amp.grad_scaler.GradScaler")
def scaler(machine: Machine, state: State, call: Call) -> Value:
    attributes: dict[str, Value] = {"enabled": call.kwargs.get("enabled", TRUE), facets.SCALER_STAGES: Tuple(())}
    made = HeapRef(state.new(Instance(External("torch.amp.GradScaler"), attributes)))
    machine.facts.training.scalers.add(made.id)
    machine.facts.training.scaled_leaves[made.id] = standing_leaf(state, "scaled", call.node)
    open_objects.made(machine, state, made.id)
    return made


def handed_scaler(machine: Machine, state: State, name: str, node: ast.AST) -> HeapRef:
    """A scaler that came as the argument ``name``: what it was used for before, and whether it is enabled, its caller
    knows.
    """
    made = HeapRef(state.new(Instance(External("torch.amp.GradScaler"), {"enabled": Unknown("enabled", False)}, True)))
    machine.facts.training.handed_scalers[made.id] = name
    machine.facts.training.scaled_leaves[made.id] = standing_leaf(state, "scaled", node)
    return made


def _is_on(machine: Machine, scaler: int) -> Because:
    """The guess that a scaler which came as an argument is enabled."""
    return guess(f"`{machine.facts.training.handed_scalers[scaler]}` is a GradScaler that is enabled")


OTHERS = Tuple((Tuple((NONE, NONE)),))
"""The stages of a scaler of which nothing is known: it may have done anything for optimizers that are not listed."""


def forget_stages(machine: Machine, state: State, keys: Iterable[int]) -> None:
    """Code that was not read may have used these scalers: what they have done is not known until ``update()``."""
    training = machine.facts.training
    shown = (training.scalers | training.handed_scalers.keys()).intersection(keys, state.heap)
    for key in shown:
        state.edit_attributes(key)[facets.SCALER_STAGES] = OTHERS
    if shown:  # it may have unscaled
        history.doubted(state, [key for key, past in state.history.items() if past.scale is not None])


REFUSED: Mapping[tuple[ScalerMethod, ScalerMethod], str] = {
    ("unscale_", "unscale_"): "unscale_() has already been called on this optimizer since the last update().",
    ("unscale_", "step"): "unscale_() is being called after step().",
    ("step", "step"): "step() has already been called since the last update().",
}
"""What a scaler says, by what it is asked for and what it has done for the same optimizer since its ``update()``."""
UNCHECKED = "No inf checks were recorded prior to update."


def _enter_stage(machine: Machine, state: State, call: Call, asked: ScalerMethod) -> None:
    """A scaler begins to unscale or to step: once for each optimizer until its ``update()``."""
    scaler, optimizer = call.args[0], call.get(1, "optimizer")
    stages = _stages(machine, state, scaler)
    if stages is None or not isinstance(scaler, HeapRef):
        return
    if not isinstance(optimizer, HeapRef | Unknown):
        optimizer = NONE  # which one is not known
    done = next((stage.value for key, stage in stages if key == optimizer != NONE and isinstance(stage, Const)), None)
    before = machine.facts.training.scaled_at.get((scaler.id, optimizer, done))
    if (asked, done) in REFUSED:
        if state.get(scaler.id, Instance).attributes.get("enabled") == TRUE:
            _refuse(machine, state, call, asked, done, before)
        elif before is not None and _is_in_one_run(before, state.point(call.node)):
            _refuse(machine, state, call, asked, done, before, _is_on(machine, scaler.id))
    machine.facts.training.scaled_at[scaler.id, optimizer, asked] = state.point(call.node)
    others = [Tuple((key, stage)) for key, stage in stages if key != optimizer]
    state.edit_attributes(scaler.id)[facets.SCALER_STAGES] = Tuple((*others, Tuple((optimizer, Const(asked)))))


def _stages(machine: Machine, state: State, scaler: Value) -> list[tuple[Value, Value]] | None:
    """The optimizers for which a scaler has done something since its ``update()``, each with what; None where it is
    neither enabled for certain nor handed in: what is done with one that is enabled on some paths depends on that.
    """
    thing = state.heap[scaler.id] if isinstance(scaler, HeapRef) else None
    is_handed = isinstance(scaler, HeapRef) and scaler.id in machine.facts.training.handed_scalers
    if not isinstance(thing, Instance) or not is_handed and thing.attributes.get("enabled") != TRUE:
        return None
    known = thing.attributes.get(facets.SCALER_STAGES)
    known = known if isinstance(known, Tuple) else OTHERS  # two paths have met
    return [(each.items[0], each.items[1]) for each in known.items if isinstance(each, Tuple)]


def _is_in_one_run(before: ProgramPoint, now: ProgramPoint) -> bool:
    """Whether two points are reached without a new call of a function that nothing in the program calls: its caller may
    have updated the scaler in between.
    """
    lap = earlier_iteration(before, now)
    return lap is None or isinstance(lap.loop, (ast.For, ast.AsyncFor, ast.While))


def _refuse(
    machine: Machine,
    state: State,
    call: Call,
    asked: ScalerMethod,
    done: ScalerMethod | None,
    before: ProgramPoint | None = None,
    because: Because = NOTHING,
) -> None:
    """What PyTorch does with a scaler that is asked for the wrong thing, ``because`` it is enabled."""
    function = call.node.func if isinstance(call.node, ast.Call) else None
    scaler = function.value if isinstance(function, ast.Attribute) else None
    kind, error = ("AssertionError", UNCHECKED) if done is None else ("RuntimeError", REFUSED[asked, done])
    machine.facts.events.publish(
        ScalerMisused(
            point=state.point(call.node),
            because=because,
            asked=asked,
            done=done,
            before=before,
            error=error,
            scaler=scaler,
        )
    )
    if not because:
        raise ProgramRaised(kind, error, by_torch=True)


@function("torch.amp.GradScaler.update")
def update(machine: Machine, state: State, call: Call) -> Value:
    """A new scale for the next iteration, by what the steps of this one have found."""
    scaler = call.args[0]
    stages, given = _stages(machine, state, scaler), call.get(1, "new_scale")
    if stages is not None and isinstance(scaler, HeapRef):
        is_on = state.get(scaler.id, Instance).attributes.get("enabled") == TRUE
        is_seen = is_on and open_objects.is_whole(machine, state, scaler.id) and not machine.handlers_around
        if not stages and is_seen and given == NONE:
            _refuse(machine, state, call, "update", None)
        state.edit_attributes(scaler.id)[facets.SCALER_STAGES] = Tuple(())
    return Unknown("scaler")


@function("torch.amp.GradScaler.scale")
def scale(machine: Machine, state: State, call: Call) -> Value:
    """The loss times a tensor: one more node, which saves the scale."""
    loss = call.get(1, "outputs")
    if isinstance(loss, Unknown) and (key := tensor_of(machine, state, loss)) is not None:
        loss = TensorRef(key)
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
        if isinstance(scaler, HeapRef) and scaler.id in machine.facts.training.handed_scalers:
            premise = _is_on(machine, scaler.id)
        scaled_at = replace(point, supposed=premise) if premise else point
        machine.facts.record_provenance(scaled.id, Provenance(scaled=scaled_at))
        if isinstance(scaler, HeapRef) and (stands_for := machine.facts.training.scaled_leaves.get(scaler.id)):
            machine.facts.training.scaled_roots[scaled.id] = stands_for
    return scaled


@function("torch.amp.GradScaler.step")
def scaled_step(machine: Machine, state: State, call: Call) -> Value:
    result, scaler = _step(machine, state, call), call.args[0]
    if isinstance(scaler, HeapRef) and (held := machine.facts.training.scaled_leaves.get(scaler.id)) is not None:
        state.history.pop(held, None)
    return result


def _step(machine: Machine, state: State, call: Call) -> Value:
    optimizer = call.get(1, "optimizer")
    _enter_stage(machine, state, call, "step")
    if isinstance(optimizer, HeapRef) and isinstance(state.heap[optimizer.id], Optimizer):
        function = call.node.func if isinstance(call.node, ast.Call) else None
        if not state.get(optimizer.id, Optimizer).params:  # it was handed in
            _tell_scaled(machine, state, call)
        inner = Call("step", call.args[2:], {}, call.node)
        return advance(
            machine, state, optimizer, inner, function.value if isinstance(function, ast.Attribute) else None
        )
    if held_by(state, optimizer) is None:
        _tell_scaled(machine, state, call)
    own = machine.load_attribute(
        state, optimizer, "step", call.node
    )  # the program's own optimizer, or it is unknown whose
    return machine.call(state, own, call.args[2:], {}, call.node, call.key)


def _tell_scaled(machine: Machine, state: State, call: Call) -> None:
    """``scaler.step(optimizer)``, where it is not known what the optimizer holds."""
    held = _held(machine, state, call.get(1, "optimizer"))
    clipped = [(past, keys) for past, keys in history.groups(state, held) if past.clip is not None]
    node = call.node
    if clipped and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        optimizer = node.args[0]
        machine.facts.events.publish(
            ScaledStep(
                point=state.point(node),
                because=guess(f"`{ast.unparse(optimizer)}` is an optimizer of what is clipped") & reason_of(clipped),
                optimizer=optimizer,
                scaler=node.func.value,
                past=tuple(clipped),
            )
        )


@function("torch.amp.GradScaler.unscale_")
def unscale(machine: Machine, state: State, call: Call) -> Value:
    optimizer = call.get(1, "optimizer")
    _enter_stage(machine, state, call, "unscale_")
    history.unscaled(state, _held(machine, state, optimizer))
    return NONE


def _held(machine: Machine, state: State, optimizer: Value) -> list[int]:
    """The leaves that an optimizer holds. One of which that is not known may hold all, but for those of another one
    that was made later, or that no code has which is not read: it wraps none of these.
    """
    optimizer = held_by(state, optimizer) or optimizer
    made = optimizer.id if isinstance(optimizer, HeapRef) else sys.maxsize
    thing, shown = state.heap.get(made), machine.facts.objects.open_objects
    if isinstance(thing, Optimizer) and thing.params:
        return thing.params
    others = {key: each for key, each in state.heap.items() if isinstance(each, Optimizer)}
    apart = [each.params for key, each in others.items() if key > made or key not in shown]
    return sorted(state.history.keys() - set[int]().union(*apart))
