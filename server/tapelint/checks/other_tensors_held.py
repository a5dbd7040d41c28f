"""Optimizers that hold another tensor than the one that backward passes reach.

    opt = Adam(nn.ParameterList([log_alpha]))     # a new Parameter; the loss is computed from `log_alpha`
    ...
    x = x.clamp(0, 1).requires_grad_(True)        # a new leaf; the optimizer has the one before

Two tensors have one name, or share one memory. What a step finds is the gradient of the one that it was given.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ..autograd import ProgramPoint, edge_of, resolve_view
from ..autograd.events.training_step import OtherTensorHeld
from ..autograd.gradients.history import NOTHING
from ..autograd.model.graph_search import leaf_tensors
from ..domain.state import State
from ..domain.values import Optimizer
from ..engine.lifecycle import StepRepeated, UnknownStepped
from ..engine.machine import Machine
from ..source import cached_on_node, walk, written
from .unoptimized_parameters import lost_leaves


def on_step_repeated(machine: Machine, event: StepRepeated) -> None:
    """Publish the leaves that this optimizer should hold in place of those that it does."""
    state = event.state
    optimizers = [thing for thing in state.heap.values() if isinstance(thing, Optimizer)]
    if any(thing.is_partial for thing in optimizers) or machine.query(_regroups, machine.tree):
        return
    for used in lost_leaves(machine, state, optimizers):
        found = next(_twins(machine, state, event.leaves, used), None)
        if found is not None:
            passes = state.history[used].passes
            machine.facts.events.publish(
                OtherTensorHeld(
                    point=event.point,
                    assumption=passes[-1].assumption,
                    optimizer=event.optimizer,
                    held=found[0],
                    used=used,
                    how="copied" if machine.facts.provenance_of(found[0]).parameter_of == used else "replaced",
                    made=found[1],
                    reached=passes[-1].point,
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
                    assumption=past.fresh[-1].assumption or f"`{written(function.value)}` is an optimizer",
                    optimizer=function.value,
                    held=held,
                    used=used,
                    how="copied",
                    made=state.tensors[held].created_at,
                    reached=past.fresh[-1].point,
                )
            )


def _twins(machine: Machine, state: State, held: Sequence[int], used: int) -> Iterator[tuple[int, ProgramPoint]]:
    """Those leaves of an optimizer that ``used`` was made of or that were made of it, each with where that was."""
    before, replaced = used, set[int]()
    while (previous := machine.facts.provenance_of(before).replaces) is not None and previous not in replaced:
        replaced.add(before := previous)
    for key in held:
        if state.history.get(key, NOTHING).fresh:
            continue
        if machine.facts.provenance_of(key).parameter_of == used:
            yield key, state.tensors[key].created_at
        elif key in replaced:
            yield key, state.tensors[used].created_at


@cached_on_node
def _regroups(tree: ast.AST) -> bool:
    """Whether the file gives an optimizer other tensors by hand: ``opt.param_groups[0]["params"] = [x]``."""
    return any(
        isinstance(inner, ast.Constant) and inner.value == "params"
        for node in walk(tree)
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store)
        for inner in ast.walk(node)
    )
