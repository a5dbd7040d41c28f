"""Parameters that backward passes reach and no optimizer holds.

    self.blocks = [nn.Linear(8, 8) for _ in range(3)]   # parameters() does not look into a list
    ...
    model.fc = nn.Linear(8, 2)                          # the optimizer was built before, and has the old ones

Who leaves a part of a network out of an optimizer means it. Reported is only what an optimizer of the whole network
lost: what is in a plain container, what is no Parameter, what was made after the optimizer; and what was frozen when
the optimizer was made, and is trained later. What has taken the place of a tensor that the optimizer holds is reported
by ``other_tensors_held``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..autograd import ProgramPoint
from ..autograd.events.training_step import NeverStepped, WhyUnoptimized
from ..because import NOTHING
from ..domain.state import State
from ..domain.values import Class, Frame, HeapRef, Instance, Mapping, Optimizer, TensorRef, Value
from ..domain.values import Sequence as Items
from ..engine.lifecycle import PathEnded, StepRepeated
from ..engine.machine import Machine
from ..frozen import frozen
from ..models.torch.nn.module_registry import is_module_like
from ..models.torch.nn.unregistered import leaves_below, leaves_in_containers, wrapper_for
from .lost_leaves import lost_leaves, without_twins


@frozen
class HeldLeaves:
    """``leaves`` below ``attribute`` of the object ``owner``, whose value is ``value``."""

    owner: int
    attribute: str
    value: Value
    leaves: tuple[int, ...]


def on_step_repeated(machine: Machine, event: StepRepeated) -> None:
    """Publish what the optimizer that steps should hold, too."""
    state, keys = event.state, event.leaves
    optimizers = {key: thing for key, thing in state.heap.items() if isinstance(thing, Optimizer)}
    if any(thing.is_partial for thing in optimizers.values()):
        return
    lost = without_twins(machine, state, keys, lost_leaves(machine, state, optimizers.values()))
    mine = max((key for key, thing in optimizers.items() if thing.params == list(keys)), default=None)
    if not lost or mine is None:
        return
    reported: set[tuple[int, str]] = set()
    for owner in [key for key, thing in state.heap.items() if isinstance(thing, Instance | Items)]:
        for why, kept in _missing(state, owner, frozenset(lost), frozenset(keys), mine):
            if (kept.owner, kept.attribute) not in reported:
                reported.add((kept.owner, kept.attribute))
                _publish(machine, event, why, kept, mine)


def on_path_ended(machine: Machine, event: PathEnded) -> None:
    """Publish what was unfrozen after the optimizer of the rest of its network was made, and is in no other one."""
    state, training = event.state, machine.facts.training
    optimizers = {key: thing for key, thing in state.heap.items() if isinstance(thing, Optimizer)}
    if not training.unfrozen_at or any(thing.is_partial for thing in optimizers.values()):
        return
    lost = lost_leaves(machine, state, optimizers.values()).intersection(training.unfrozen_at)
    for mine, thing in optimizers.items():
        left = tuple(sorted(lost & training.frozen_before[mine] & _beside(state, thing.params)))
        uses = [state.consumed_passes.get(run) for key in left for run in state.history[key].passes]
        if step := next((use.step for use in uses if use is not None and use.step is not None), None):
            _publish_unfrozen(machine, step, left, mine)


def _beside(state: State, leaves: list[int]) -> set[int]:
    """All that networks hold which hold some of these leaves."""
    networks = (set(leaves_below(state, HeapRef(key))) for key in state.heap if is_module_like(state, HeapRef(key)))
    return set[int]().union(*(each for each in networks if not each.isdisjoint(leaves)))


def _publish_unfrozen(machine: Machine, step: ProgramPoint, leaves: tuple[int, ...], mine: int) -> None:
    machine.facts.events.publish(
        NeverStepped(
            point=step,
            optimizer=None,
            built=machine.created_by.get(mine),
            leaves=leaves,
            why="frozen",
            attribute=None,
            value=machine.facts.training.unfrozen_at[leaves[0]].node,
            wrapper=None,
        )
    )


def _publish(machine: Machine, event: StepRepeated, why: WhyUnoptimized, kept: HeldLeaves, mine: int) -> None:
    state = event.state
    home = machine.facts.origins.attribute_stores.get((kept.owner, kept.attribute))
    target, value = home or (None, state.tensors[kept.leaves[0]].created_at.node)
    passes = [run for key in kept.leaves for run in state.history[key].passes]
    machine.facts.events.publish(
        NeverStepped(
            point=event.point,
            because=next((run.because for run in passes if run.because), NOTHING),
            optimizer=event.optimizer,
            built=machine.created_by.get(mine),
            leaves=kept.leaves,
            why=why,
            attribute=target,
            value=value,
            wrapper=wrapper_for(state, kept.value) if why != "later" else None,
        )
    )


def _missing(
    state: State, owner: int, lost: frozenset[int], mine: frozenset[int], built: int
) -> Iterator[tuple[WhyUnoptimized, HeldLeaves]]:
    """What the optimizer ``built`` of the leaves ``mine`` has lost of a network, if it was given the whole of it."""
    thing = state.heap[owner]
    if isinstance(thing, (Frame, Class)) or not is_module_like(state, HeapRef(owner)):
        return
    registered = frozenset(leaves_below(state, HeapRef(owner)))
    wanted = {key for key in registered if state.tensors[key].requires_grad}
    if not registered & mine or any(key < built for key in wanted - mine):
        return
    if owner < built and wanted - mine & lost:
        yield from (("later", kept) for kept in _added(state, HeapRef(owner), lost, built, set()))
    if isinstance(thing, Instance) and not thing.is_partial:
        yield from _unregistered(state, owner, thing, lost, registered)


def _unregistered(
    state: State, owner: int, thing: Instance, lost: frozenset[int], registered: frozenset[int]
) -> Iterator[tuple[WhyUnoptimized, HeldLeaves]]:
    """The lost leaves that an object keeps where ``parameters()`` does not look."""
    for name, value in thing.attributes.items():
        if isinstance(value, TensorRef):
            if value.id in lost and value.id not in registered and value.id > owner:
                yield "plain", HeldLeaves(owner, name, value, (value.id,))
        elif hidden := tuple(key for key in leaves_in_containers(state, value) if key in lost and key > owner):
            yield "hidden", HeldLeaves(owner, name, value, hidden)


def _added(state: State, value: HeapRef, lost: frozenset[int], built: int, seen: set[int]) -> Iterator[HeldLeaves]:
    """Where a network keeps what was made after the optimizer."""
    thing = state.heap[value.id]
    if value.id in seen:
        return
    seen.add(value.id)
    for name, item in _entries(thing):
        if isinstance(item, TensorRef):
            if item.id in lost and item.id > built and state.tensors[item.id].parameter:
                yield HeldLeaves(value.id, name, item, (item.id,))
        elif is_module_like(state, item):
            assert isinstance(item, HeapRef)
            if item.id < built:
                yield from _added(state, item, lost, built, seen)
            elif new := tuple(key for key in leaves_below(state, item) if key in lost):
                yield HeldLeaves(value.id, name, item, new)


def _entries(thing: object) -> Iterable[tuple[str, Value]]:
    if isinstance(thing, Instance):
        return thing.attributes.items()
    items = thing.items.items() if isinstance(thing, Mapping) else enumerate(getattr(thing, "items", ()))
    return [(str(name), item) for name, item in items]
