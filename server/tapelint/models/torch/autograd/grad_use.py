"""A step: gradients are used, by an optimizer or by hand."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from functools import partial

from ....autograd import ProgramPoint
from ....autograd.events.training_step import OptimizerStepped
from ....autograd.gradients import history, untrained_parameters
from ....autograd.gradients.withheld import Fates
from ....autograd.model.program_point import earlier_iteration
from ....because import NOTHING, Because, all_hold
from ....domain.state import State
from ....domain.values import HeapRef, Instance, Mapping, Optimizer, Unknown
from ....engine.lifecycle import StepRepeated
from ....engine.machine import Machine
from ..nn.module_registry import is_module_like
from ..nn.unregistered import leaves_below


def use_grads(
    machine: Machine,
    state: State,
    keys: Sequence[int],
    node: ast.AST,
    optimizer: ast.expr | None = None,
    scaler: ast.expr | None = None,
    holder: int | None = None,
) -> None:
    """``step``: what it used is reported, and the gradients are used from now on. A step that goes backward by its
    closure needs nothing of what the closure has left when the program called it for something else, such as a log.
    Where another optimizer has found nothing, what is cleared here unused may have been meant for that one.
    """
    past, point, premises = history.groups(state, keys), state.point(node), machine.facts.leaving_assumptions(state)
    closures = {run.point.node for g, _ in past for run in g.passes if node in run.point.calls}
    lost = [
        (clearing, one)
        for g, _ in past
        for clearing in g.clearings
        for one in clearing.passes
        if one.begin and history.wasted(state, one) and (one.point.node not in closures or node in one.point.calls)
    ]
    machine.facts.events.publish(
        OptimizerStepped(
            point=point,
            because=reason_of(past),
            optimizer=optimizer,
            held=tuple(keys),
            past=past,
            lost=() if lost and history.has_idle(state) else tuple(dict.fromkeys(lost)),
            leaked=_leaked(state, past),
            scaler=scaler,
            premises=premises,
            unread=state.unread,
        )
    )
    if not any(g.because for g, _ in past):  # it is known what the optimizer holds
        _compare(machine, past, StepRepeated(state, keys, point, optimizer, holder, _in_vain(state, past, point)))
    history.stepped(state, keys, point, premises, _cleared_by(state, holder))
    machine.unit.notes.record(Fates).use(state, keys)


def written_optimizer(node: ast.AST, scaled: bool) -> ast.expr | None:
    """The optimizer as the program writes it: ``opt`` of ``opt.step()`` or ``scaler.step(opt)``."""
    if not isinstance(node, ast.Call):
        return None
    if scaled:
        return node.args[0] if node.args else None
    return node.func.value if isinstance(node.func, ast.Attribute) else None


def _cleared_by(state: State, holder: int | None) -> int | None:
    """The optimizer that steps, if it has cleared its gradients before."""
    return holder if holder is not None and state.get(holder, Optimizer).cleared else None


def _is_of_any_key(state: State, holder: int | None) -> bool:
    """Whether an optimizer is one of several of which none has a key that is known: which of them a key names, and
    whose parameters the same key names in another dictionary, is not known.
    """
    dictionaries = (thing.items for thing in state.heap.values() if isinstance(thing, Mapping) and len(thing.items) > 1)
    entries = (entry for items in dictionaries for entry in items.items())
    return any(value == HeapRef(holder) and isinstance(key, Unknown) for key, value in entries) if holder else False


def _compare(machine: Machine, past: Sequence[history.Group], repeated: StepRepeated) -> None:
    """Compare a step with those before it, where one of them may have been in vain."""
    state, facts = repeated.state, machine.facts
    if _is_of_any_key(state, repeated.holder):
        return
    if untrained_parameters.due(facts, state, past, repeated.point):
        chosen, is_alone = partial(_beside_frozen, facts.training.optimized, state), machine.max_paths == 1
        untrained_parameters.look(facts, state, repeated.leaves, repeated.point, repeated.optimizer, chosen, is_alone)
        machine.lifecycle.step_repeated.publish(machine, repeated)
    elif repeated.in_vain or _is_shared(state, past, repeated.holder):
        if (
            not facts.is_in_doubt(state) or repeated.in_vain and repeated.doubles
        ):  # what may reach it is for another one
            machine.lifecycle.step_repeated.publish(machine, repeated)


def _beside_frozen(optimized: Collection[int], state: State) -> frozenset[int]:
    """The parameters of networks of which the program has frozen a part that no optimizer is given: what it has left
    unfrozen there is meant to be trained.
    """
    chosen: set[int] = set()
    for owner in (key for key, thing in state.heap.items() if isinstance(thing, Instance)):
        leaves = leaves_below(state, HeapRef(owner)) if is_module_like(state, HeapRef(owner)) else []
        if any(state.tensors[key].requires_grad is False and key not in optimized for key in leaves):
            chosen.update(leaves)
    return frozenset(chosen)


def _in_vain(state: State, past: Sequence[history.Group], now: ProgramPoint) -> bool:
    """Whether a step of an earlier iteration has used all that there was, and none has come since; or has found none in
    parameters that are frozen or not known, of which ``untrained_parameters`` does not tell.
    """
    return bool(past) and all(_is_spent(g, now) and (g.step is not None or _hides(state, keys)) for g, keys in past)


def _is_spent(past: history.GradientHistory, now: ProgramPoint) -> bool:
    """Whether a step of an earlier iteration has left nothing, and nothing has come since."""
    last = past.last_step
    is_open = past.fresh or past.doubt or past.perhaps
    return not is_open and last is not None and earlier_iteration(last, now) is not None


def _hides(state: State, keys: Sequence[int]) -> bool:
    """Whether some leaf is frozen, or not known."""
    return not all(untrained_parameters.is_trainable(state, key) for key in keys)


def _is_shared(state: State, past: Sequence[history.Group], holder: int | None) -> bool:
    """Whether another optimizer has stepped since this one did."""
    own = state.get(holder, Optimizer).stepped if holder is not None else None
    return own is not None and any(g.step is not None and g.step != own for g, _ in past)


def reason_of(past: Sequence[history.Group]) -> Because:
    """What some pass of these gradients rests on, and what is assumed of the optimizer that holds them."""
    run_because = next((run.because for g, _ in past for run in g.passes if run.because), NOTHING)
    return all_hold(g.because for g, _ in past) & run_because


def _leaked(state: State, past: Sequence[history.Group]) -> tuple[tuple[history.Pass, ProgramPoint], ...]:
    """The passes that another optimizer's step has used, before this network had a pass of its own: they were meant for
    that one, and only came through here.
    """
    held = frozenset(key for _, keys in past for key in keys)
    found: dict[history.Pass, ProgramPoint] = {}
    for gradient, _ in past:
        for one in gradient.fresh[:-1]:
            use = state.consumed_passes.get(one)
            if use is None or use.step is None or one in found or gradient.fresh[-1].stamp < use.stamp:
                continue
            others = frozenset(one.leaves) - held
            if others and history.leads_through(one, held, others):
                found[one] = use.step
    return tuple(found.items())
