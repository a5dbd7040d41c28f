"""Optimizers that hold another tensor than the one that backward passes reach.

    opt = Adam(nn.ParameterList([log_alpha]))     # a new Parameter; the loss is computed from `log_alpha`
    ...
    x = x.clamp(0, 1).requires_grad_(True)        # a new leaf; the optimizer has the one before

Two tensors have one name, or share one memory. What a step finds is the gradient of the one that it was given.
"""

from __future__ import annotations

import ast

from ..autograd import edge_of, resolve_view
from ..autograd.events.training_step import OtherTensorHeld
from ..autograd.gradients.history import NOTHING
from ..autograd.model.graph_search import leaf_tensors
from ..because import guess
from ..domain.values import Optimizer
from ..engine.lifecycle import StepRepeated, UnknownStepped
from ..engine.machine import Machine
from ..source import written
from .lost_leaves import lost_leaves, twins


def on_step_repeated(machine: Machine, event: StepRepeated) -> None:
    """Publish the leaves that this optimizer should hold in place of those that it does."""
    state = event.state
    optimizers = {key: thing for key, thing in state.heap.items() if isinstance(thing, Optimizer)}
    if any(thing.is_partial for thing in optimizers.values()):
        return
    mine = max((key for key, thing in optimizers.items() if thing.params == list(event.leaves)), default=None)
    for used in lost_leaves(machine, state, optimizers.values()):
        found = next(twins(machine, state, event.leaves, used), None)
        if found is not None:
            passes = state.history[used].passes
            machine.facts.events.publish(
                OtherTensorHeld(
                    point=event.point,
                    because=passes[-1].because,
                    optimizer=event.optimizer,
                    held=found[0],
                    used=used,
                    how="copied" if machine.facts.provenance_of(found[0]).parameter_of == used else "replaced",
                    made=found[1],
                    reached=passes[-1].point,
                    built=machine.created_by.get(mine) if mine is not None else None,
                )
            )


def on_unknown_stepped(machine: Machine, event: UnknownStepped) -> None:
    """Publish a Parameter that was made of a leaf and given to what steps, if only the leaf is trained."""
    state, function = event.state, event.call.func
    if not isinstance(function, ast.Attribute) or not state.history:
        return
    edges = (edge for key in event.given if (edge := edge_of(resolve_view(state, key))) is not None)
    for held in leaf_tensors(edges):
        used = machine.facts.provenance_of(held).parameter_of
        past = state.history.get(used, NOTHING) if used is not None else NOTHING
        if used is not None and past.fresh and held not in state.history:
            machine.facts.events.publish(
                OtherTensorHeld(
                    point=state.point(event.call),
                    because=past.fresh[-1].because or guess(f"`{written(function.value)}` is an optimizer"),
                    optimizer=function.value,
                    held=held,
                    used=used,
                    how="copied",
                    made=state.tensors[held].created_at,
                    reached=past.fresh[-1].point,
                )
            )
