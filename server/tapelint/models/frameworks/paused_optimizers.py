"""Accelerate's accumulation: which batches of an ``Accelerator`` end with a step.

    with accelerator.accumulate(model):       # counts a batch; the last of every few is synchronised
        accelerator.backward(loss)
        optimizer.step()                      # nothing, unless the batch is synchronised
        optimizer.zero_grad()                 # nothing, unless the batch is synchronised

Every second batch is synchronised, however many are accumulated. Where that number is an option, or unknown, the path
on which it is more than one supposes that.
"""

from __future__ import annotations

from ...domain import facets
from ...domain.options import Option, left_at, optional
from ...domain.state import State
from ...domain.values import FALSE, TRUE, Const, External, HeapRef, Instance, Optimizer, Tuple, Unknown, Value
from ...engine.machine import Machine
from ...engine.paths.conditions import assume, decided
from ...engine.paths.defaults import by_default
from ..torch.autograd.grad_calls import clip_gradients
from ..torch.registry import FUNCTIONS, Call
from .training_loops import ACCELERATE

STEPS = "gradient_accumulation_steps"
SYNCED = "sync_gradients"
ONE = Const(1)


def accelerator(machine: Machine, state: State, call: Call) -> Value:
    """An ``Accelerator``, whose batches are synchronised until ``accumulate`` says otherwise."""
    attributes = {STEPS: _steps(call), SYNCED: TRUE, facets.PREPARED: Tuple(())}
    return HeapRef(state.new(Instance(External(call.name), attributes, True)))


def _steps(call: Call) -> Value:
    """Over how many batches gradients are accumulated; one, unless something is given."""
    given = call.get(3, STEPS, ONE)
    is_known = isinstance(given, Const) or isinstance(given, Unknown) and isinstance(given.formula, Option)
    if is_known and "gradient_accumulation_plugin" not in call.kwargs:
        return given
    return optional(left_at(STEPS, ONE), STEPS)


def accumulate(machine: Machine, state: State, call: Call) -> Value:
    """A batch begins. Where it is not known whether several are accumulated, there is a path for either."""
    batches, manager = call.args[0], Unknown("accumulate", False)

    def begin(key: object) -> Value:
        thing = _thing(state, batches)
        steps = thing.attributes.get(STEPS, ONE) if thing is not None else ONE
        formula = ("Gt", steps.formula if isinstance(steps, Unknown) else steps, ONE)
        usual = by_default(formula)
        if usual is None:
            _count(state, batches, isinstance(steps, Const) and isinstance(steps.value, int) and steps.value > 1)
            return manager
        is_several, choice, negated = decided(state, formula)
        if is_several is None:
            other = state.fork()
            assume(state, choice, usual is not negated)
            assume(other, choice, usual is negated)
            _count(other, batches, not usual)
            machine.memo.fork(other, key, manager)
            is_several = usual
        _count(state, batches, is_several)
        return manager

    return machine.memoize(call.node, "accumulate", begin)


def _thing(state: State, value: Value) -> Instance | None:
    thing = state.heap.get(value.id) if isinstance(value, HeapRef) else None
    return thing if isinstance(thing, Instance) else None


def _count(state: State, batches: Value, is_several: bool) -> None:
    """One more batch has begun: it is synchronised if it is the last of those that are accumulated."""
    thing = _thing(state, batches)
    if thing is None or not is_several:
        return
    assert isinstance(batches, HeapRef)
    is_last = thing.attributes.get(SYNCED) == FALSE
    state.edit_attributes(batches.id)[SYNCED] = Const(is_last)
    prepared = thing.attributes.get(facets.PREPARED)
    for each in prepared.items if isinstance(prepared, Tuple) else ():
        if isinstance(each, HeapRef):
            state.edit(each.id, Optimizer).is_paused = not is_last


def prepare(state: State, call: Call) -> None:
    """Optimizers that an ``Accelerator`` prepares do nothing in a batch that is not synchronised."""
    batches = call.args[0]
    thing = _thing(state, batches)
    known = thing.attributes.get(facets.PREPARED) if thing is not None else None
    if not isinstance(known, Tuple) or not isinstance(batches, HeapRef):
        return
    given = [e for e in call.args[1:] if isinstance(e, HeapRef) and isinstance(state.heap.get(e.id), Optimizer)]
    if given:
        state.edit_attributes(batches.id)[facets.PREPARED] = Tuple((*known.items, *given))


def clip(machine: Machine, state: State, call: Call) -> Value:
    """``accelerator.clip_grad_norm_``: gradients are clipped in each batch, also where more are to come."""
    return clip_gradients(machine, state, Call(call.name, call.args[1:], call.kwargs, call.node, call.key))


def unwrapped(machine: Machine, state: State, call: Call) -> Value:
    """``accelerator.unwrap_model``: the network that was prepared."""
    return call.get(1, "model")


for _name in ACCELERATE:
    FUNCTIONS[_name] = accelerator
    FUNCTIONS[f"{_name}.accumulate"] = accumulate
    FUNCTIONS[f"{_name}.unwrap_model"] = unwrapped
    for _clip in ("clip_grad_norm_", "clip_grad_value_"):
        FUNCTIONS[f"{_name}.{_clip}"] = clip
