"""Leaves that hold a graph of their own: neither is ever collected.

    for task in tasks:
        net = build()                          # leaves of this iteration
        grads = autograd.grad(loss(net, task), net.parameters(), create_graph=True)
        for p, g in zip(net.parameters(), grads):
            p.update = g                       # p -> its attribute -> the graph of g -> p

Python's collector does not look into graphs, so it does not see the cycle: of every iteration one network stays.
"""

from __future__ import annotations

import ast

from ..autograd import LastStore
from ..autograd.events.graph_walks import LeafHoldsItself
from ..autograd.model.graph_search import leaf_tensors
from ..domain.state import State
from ..domain.values import TensorRef
from ..engine.lifecycle import LoopLeft
from ..engine.machine import Machine


def on_loop_left(machine: Machine, event: LoopLeft) -> None:
    """Publish what iterations of a loop have left behind."""
    state, run = event.state, event.run
    for kept in state.last_stores.values():
        laps = [lap for lap in kept.stored.point.iterations if lap.run == run and lap.number > 1]
        if laps and _is_attribute(kept.stored.statement) and (leaf := _held_by(state, kept, run)) is not None:
            machine.facts.events.publish(
                LeafHoldsItself(point=kept.stored.point, leaf=leaf, tensor=kept.tensor, stored=kept.stored, lap=laps[0])
            )


def _is_attribute(statement: ast.AST) -> bool:
    return isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute)


def _held_by(state: State, kept: LastStore, run: int) -> int | None:
    """The leaf of this run that holds a tensor whose graph leads to the leaf."""
    top = state.tensors[kept.tensor].grad_fn
    for leaf in leaf_tensors([top]) if top is not None and top.certain else ():
        holds = TensorRef(kept.tensor) in state.given_attributes(leaf).values() or state.grads.get(leaf) == kept.tensor
        if holds and any(lap.run == run for lap in state.tensors[leaf].created_at.iterations):
            return leaf
    return None
