"""Optimizers that were given the parameters of another network than the one that backward passes reach.

    g_opt = Adam(D.parameters())    # D has `d_opt`: both step D, and nobody steps G
    ...
    net = Net()                     # `opt` holds those of the net before: its step finds no new gradient
    ...
    opt = Adam([*policy.parameters(), *value.parameters()])     # the loss uses `old_policy`, of the same class

Who leaves a network out of all optimizers may mean it. What shows that it is a mistake is an optimizer that is good for
nothing: it steps what another one steps, or nothing that was computed since its last step, or never finds a gradient.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from ..autograd import Tensor
from ..autograd.events.training_step import OthersTrained
from ..autograd.gradients.history import NOTHING, Pass
from ..autograd.model.graph_search import leaf_tensors
from ..autograd.model.program_point import ProgramPoint, earlier_iteration
from ..because import guess
from ..domain.reachability import held_beside_optimizers
from ..domain.state import State
from ..domain.values import Optimizer
from ..engine.lifecycle import StepRepeated
from ..engine.machine import Machine
from ..source import walk
from .lost_leaves import lost_leaves, without_twins

ANOTHER = guess("what has made the network makes another one each time")


def on_step_repeated(machine: Machine, event: StepRepeated) -> None:
    """Publish the parameters that passes reach in place of those that a superfluous optimizer holds."""
    state = event.state
    if event.holder is None:
        return
    optimizers = {key: thing for key, thing in state.heap.items() if isinstance(thing, Optimizer)}
    if any(thing.is_partial for thing in optimizers.values()):
        return
    steps, is_left = _of_the_same(event, optimizers), _is_left(machine, event)
    if len(steps) > 1 or is_left or _is_vain(event):
        _look(machine, event, optimizers, steps, is_left)
    else:
        _look_at_parts(machine, event, optimizers)


def _look_at_parts(machine: Machine, event: StepRepeated, optimizers: Mapping[int, Optimizer]) -> None:
    """Publish the parameters of one network that passes reach in place of those of another one, which no pass does."""
    state = event.state
    lost = frozenset(lost_leaves(machine, state, optimizers.values()))
    idle = tuple(key for key in event.leaves if state.history.get(key, NOTHING).never)
    if idle and lost and _made_at(state, idle) == _made_at(state, lost) and event.holder is not None:
        _publish(machine, event, _passes(state, lost), {event.holder: event.point}, lost, is_left=False, idle=idle)


def _made_at(state: State, leaves: Iterable[int]) -> Counter[ast.AST]:
    return Counter(state.tensors[key].created_at.node for key in leaves)


def _look(
    machine: Machine,
    event: StepRepeated,
    optimizers: Mapping[int, Optimizer],
    steps: Mapping[int, ProgramPoint],
    is_left: bool,
) -> None:
    """Publish what passes reach in place of what an optimizer holds; ``steps`` has those that hold the same."""
    state = event.state
    unheld = without_twins(machine, state, event.leaves, lost_leaves(machine, state, optimizers.values(), is_left))
    lost = frozenset(key for key in unheld if _is_another(machine, event, key))
    found, is_double = _passes(state, lost), bool(event.doubles)
    if len(steps) > 1 and (shared := _shared(event, found)):
        _publish(machine, event, shared, steps, lost, is_left)
    elif passes := found if is_left else _instead(machine, event, found, lost, optimizers):
        mine = {event.holder: event.point} if is_double and event.holder is not None else steps
        _publish(machine, event, passes, mine, lost, is_left, is_double)


def _is_another(machine: Machine, event: StepRepeated, key: int) -> bool:
    """Whether a leaf is a parameter of another network than those that the optimizer holds. One whose code is not read
    is taken for another only if the function that made it has made these as well, and has been called again.
    """
    tensors = event.state.tensors
    if tensors[key].assumption is None or not tensors[key].parameter:
        return tensors[key].parameter
    made = {each: _made_by(machine, tensors[each]) for each in (key, *event.leaves)}
    maker = made.pop(key)
    return maker is not None and maker in made.values()


def _made_by(machine: Machine, leaf: Tensor) -> str | None:
    """Which function, as it is written, has made a network that a leaf stands for; None for what a call was given."""
    at = leaf.created_at.node
    if isinstance(at, ast.Call):
        return None if leaf.is_guessed else ast.unparse(at.func)
    return machine.query(_maker, at, *machine.trees)


def _maker(at: ast.AST, *trees: ast.AST) -> str | None:
    """Which function, as it is written, makes what an assignment stores: ``at`` is that, or a target of it. None where
    a method of what was there before has: ``net = net.train()``.
    """
    stores = (node for tree in trees for node in walk(tree) if isinstance(node, ast.Assign))
    store = next((node for node in stores if at is node or at in node.targets), None)
    if store is None or not isinstance(store.value, ast.Call):
        return None
    function, before = store.value.func, {*map(ast.unparse, store.targets)}
    is_method = isinstance(function, ast.Attribute) and ast.unparse(function.value) in before
    return None if is_method else ast.unparse(function)


def _is_vain(event: StepRepeated) -> bool:
    """Whether an optimizer finds no gradient, in no iteration, or in this one where another one holds the same."""
    history = event.state.history
    has_new = any(past.fresh for key in event.leaves if (past := history.get(key)) is not None)
    return event.in_vain or not has_new and bool(event.doubles)


def _is_left(machine: Machine, event: StepRepeated) -> bool:
    """Whether only optimizers hold what this one steps, and there is no gradient: no code can go backward to it."""
    state, leaves = event.state, set(event.leaves)
    pasts = [past for key in leaves if (past := state.history.get(key)) is not None]
    if any(past.fresh or past.perhaps for past in pasts) or not machine.facts.training.shown.isdisjoint(leaves):
        return False
    held = held_beside_optimizers(state)
    return held.isdisjoint(leaves) and leaf_tensors(state.grad_fns(held.intersection(state.tensors))).isdisjoint(leaves)


def _shared(event: StepRepeated, passes: Iterable[Pass]) -> list[Pass]:
    """Those of ``passes`` that reach what the optimizer holds, too."""
    return [run for run in passes if not set(event.leaves).isdisjoint(run.leaves)]


def _publish(
    machine: Machine,
    event: StepRepeated,
    passes: Sequence[Pass],
    steps: Mapping[int, ProgramPoint],
    lost: frozenset[int],
    is_left: bool,
    holds_the_same: bool = True,
    idle: tuple[int, ...] = (),
) -> None:
    """What only optimizers hold is lost whatever is chosen after that was made which is trained in its place."""
    wrong, point = _superfluous(event.state, passes, steps), machine.facts.going_on(event.point)
    leaves = sorted(lost.intersection(passes[-1].leaves))
    last = event.state.tensors[leaves[-1]]
    machine.facts.events.publish(
        OthersTrained(
            point=replace(point, guard=last.created_at.guard) if is_left else point,
            because=passes[-1].because if last.assumption is None else passes[-1].because & ANOTHER,
            step=steps[wrong],
            built=machine.created_by.get(wrong),
            leaves=tuple(leaves),
            reached=passes[-1].point,
            holds_the_same=holds_the_same,
            idle=idle,
        )
    )


def _of_the_same(event: StepRepeated, optimizers: Mapping[int, Optimizer]) -> dict[int, ProgramPoint]:
    """The optimizer that steps, and another one that holds the same and has stepped since this one did, both in this
    iteration or the one before; each with its step.
    """
    assert event.holder is not None
    steps, held = {event.holder: event.point}, set(event.leaves)
    before, history = optimizers[event.holder].stepped, event.state.history
    last = {past.step for key in held if (past := history.get(key)) is not None}
    if before is not None and _is_near(before, event.point):
        for key, other in optimizers.items():
            step = other.stepped
            if step is not None and step in last and _is_near(step, event.point) and set(other.params) == held:
                steps.setdefault(key, step)
    return steps


def _is_near(past: ProgramPoint, now: ProgramPoint) -> bool:
    lap = earlier_iteration(past, now)
    if lap is None:
        return past.iterations == now.iterations
    return any(each.run == lap.run and each.number == lap.number + 1 for each in now.iterations)


def _passes(state: State, leaves: Collection[int]) -> list[Pass]:
    """What went backward to leaves, oldest first."""
    found = {run: None for key in leaves if key in state.history for run in state.history[key].passes}
    return sorted(found, key=lambda run: run.stamp)


def _instead(
    machine: Machine,
    event: StepRepeated,
    passes: Iterable[Pass],
    lost: frozenset[int],
    optimizers: Mapping[int, Optimizer],
) -> list[Pass]:
    """Those of ``passes`` in the iteration of a step that train nothing else, and came after the last one that reached
    what the optimizer holds. In vain, none came in an earlier iteration, either: no pass is for an optimizer of what
    another one holds.
    """
    found = _since(event, passes) if _is_vain(event) else []
    if not event.in_vain or not event.doubles:
        held = set[int]().union(*(thing.params for thing in optimizers.values()))
        found = [run for run in found if _trains_only(machine, event.state, run, lost, held)]
    known = [event.state.tensors[key] for run in found for key in run.leaves]
    is_open = any(tensor.requires_grad is None or tensor.assumption is not None for tensor in known)
    return found if not is_open or machine.facts.training.shown.isdisjoint(event.leaves) else []


def _since(event: StepRepeated, passes: Iterable[Pass]) -> list[Pass]:
    """Those of ``passes`` in the iteration of a step that came after the last one to what the optimizer holds."""
    now, own = event.point.iterations, _passes(event.state, event.leaves)
    last = own[-1].stamp if own else 0
    return [run for run in passes if run.stamp > last and run.point.iterations[: len(now)] == now]


def _trains_only(machine: Machine, state: State, run: Pass, lost: Collection[int], held: Collection[int]) -> bool:
    """Whether a pass reaches ``lost`` leaves, others of which not all is known and that no optimizer has ``held``, and
    data, of which the program may want the gradient.
    """
    expected = {*lost, *machine.facts.training.wanted_gradients}
    others = [state.tensors[key] for key in run.leaves if key not in expected]
    return all(not each.requires_grad or each.assumption is not None and each.id not in held for each in others)


def _superfluous(state: State, passes: Collection[Pass], steps: Mapping[int, ProgramPoint]) -> int:
    """The one of several optimizers of the same parameters that steps after passes which reach others; the one that was
    made last, where they all do.
    """
    uses = [use.step for run in passes if (use := state.consumed_passes.get(run)) is not None and use.step is not None]
    after = {key for key, step in steps.items() if any(step.call_site == use.call_site for use in uses)}
    return max(after or steps)
