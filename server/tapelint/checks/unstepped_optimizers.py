"""Optimizers that never step.

    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()       # computed, and cleared by the next iteration

That a step is missing is known when a path ends of which no code holds the optimizer any more: all that could step was
executed, and code that was not read has never had it.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..autograd.events.training_step import StepLeftOut
from ..autograd.gradients.history import Pass
from ..domain.reachability import Reachable, collect
from ..domain.state import State
from ..domain.values import Optimizer
from ..engine.lifecycle import PathEnded
from ..engine.machine import Machine
from ..engine.open_objects import is_whole, leads_to
from ..source import cached_on_node, walk
from .lost_leaves import is_untrained


def on_path_ended(machine: Machine, event: PathEnded) -> None:
    """Publish the optimizers whose gradients were computed, and nothing else; cleared, where no other one steps."""
    state, steps = event.state, machine.facts.training.steps
    optimizers = {
        key: thing for key, thing in state.heap.items() if isinstance(thing, Optimizer) and _never_steps(machine, thing)
    }
    if not optimizers or state.hooks or not all(machine.query(_steps, tree) <= steps for tree in machine.trees):
        return
    picked_from = {container for container, _ in machine.facts.objects.picked_objects}  # any item may be meant
    held = Reachable(set(), picked_from)
    collect([*event.reachable], held)
    for key, thing in optimizers.items():
        if is_whole(machine, state, key) and not leads_to(state, held.objects, key):
            _look_at(machine, state, key, thing.params)


def _never_steps(machine: Machine, optimizer: Optimizer) -> bool:
    """Whether no step has used what an optimizer holds, as far as it is known."""
    if optimizer.is_partial or optimizer.is_paused:
        return False
    return all(set(optimizer.params).isdisjoint(held) for held in machine.facts.training.stepped_with.values())


def _look_at(machine: Machine, state: State, optimizer: int, leaves: Sequence[int]) -> None:
    """Publish it if all that was computed for an optimizer was of no use, and was cleared, or more than once."""
    reached = {key: passes for key in leaves if (passes := _computed(state, key))}
    if not all(is_untrained(machine, state, key, passes) for key, passes in reached.items()):
        return
    clearings = [clearing for key in reached for clearing in state.history[key].clearings]
    last = max(clearings, key=lambda clearing: clearing.stamp, default=None)
    most = max(map(len, reached.values()), default=0)
    facts, built = machine.facts, machine.created_by.get(optimizer)
    if last is not None:
        run = last.passes[-1]
        found = tuple(key for key in reached if last in state.history[key].clearings)
    elif built is not None and most > 1 and facts.training.stepped_with:
        run = max((passes[-1] for passes in reached.values()), key=lambda each: each.stamp)
        found = tuple(reached)
    else:
        return
    point = facts.going_on(run.point if last is None else last.point)
    facts.events.publish(StepLeftOut(point=point, leaves=found, run=run, clearing=last, built=built))


def _computed(state: State, key: int) -> list[Pass]:
    """All that backward passes have computed for a leaf, oldest first."""
    past = state.history.get(key)
    return [] if past is None else [*(run for each in past.clearings for run in each.passes), *past.passes]


@cached_on_node
def _steps(tree: ast.AST) -> frozenset[ast.AST]:
    """The calls of a method `step`."""
    calls = (node for node in walk(tree) if isinstance(node, ast.Call))
    return frozenset(call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "step")
