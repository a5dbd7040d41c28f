"""Parameters that backward passes reach and no optimizer holds.

    self.blocks = [nn.Linear(8, 8) for _ in range(3)]   # parameters() does not look into a list
    ...
    model.fc = nn.Linear(8, 2)                          # the optimizer was built before, and has the old ones

Who leaves a part of a network out of an optimizer means it. Reported is only what an optimizer of the whole network
lost: what is in a plain container, what is no Parameter, what was made after the optimizer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..autograd import ProgramPoint
from ..autograd.events.broken_graph import NothingToOptimize
from ..autograd.events.training_step import NeverStepped
from ..domain.state import State
from ..domain.values import HeapRef, Instance, Mapping, Optimizer, TensorRef, Tuple, Unknown, Value
from ..domain.values import Sequence as Items
from ..engine.machine import Machine, ProgramRaised
from ..models.torch.nn.module_registry import is_module_like, parameters_of
from ..models.torch.registry import Call

DEPTH = 3
"""How deep containers are nested that are looked into."""


@dataclass(frozen=True, slots=True)
class HeldLeaves:
    """``leaves`` below ``attribute`` of the object ``owner``, whose value is ``value``."""

    owner: int
    attribute: str
    value: Value
    leaves: tuple[int, ...]


def look(machine: Machine, state: State, keys: Sequence[int], now: ProgramPoint, optimizer: ast.expr | None) -> None:
    """An optimizer of ``keys`` steps: tell what it should hold, too."""
    optimizers = {key: thing for key, thing in state.heap.items() if isinstance(thing, Optimizer)}
    if any(thing.is_partial for thing in optimizers.values()):
        return
    lost = _lost_leaves(machine, state, optimizers.values())
    mine = max((key for key, thing in optimizers.items() if thing.params == list(keys)), default=None)
    if not lost or mine is None:
        return
    reported: set[tuple[int, str]] = set()
    for owner in [key for key, thing in state.heap.items() if isinstance(thing, Instance | Items)]:
        for why, kept in _missing(state, owner, frozenset(lost), frozenset(keys), mine):
            if (kept.owner, kept.attribute) not in reported:
                reported.add((kept.owner, kept.attribute))
                _tell(machine, state, why, kept, now, optimizer, mine)


def _lost_leaves(machine: Machine, state: State, optimizers: Iterable[Optimizer]) -> set[int]:
    """The leaves that backward passes come to and that no optimizer holds."""
    held = {key for thing in optimizers for key in thing.params}
    return {
        key
        for key in state.history
        if key not in held and key not in machine.facts.wanted_gradients and _untrained(state, key)
    }


def _tell(
    machine: Machine, state: State, why: str, kept: HeldLeaves, now: ProgramPoint, optimizer: ast.expr | None, mine: int
) -> None:
    home = machine.facts.attribute_stores.get((kept.owner, kept.attribute))
    target, value = home or (None, state.tensors[kept.leaves[0]].created_at.node)
    passes = [run for key in kept.leaves for run in state.history[key].passes]
    machine.facts.events.publish(
        NeverStepped(
            now,
            next((run.assumption for run in passes if run.assumption), None),
            optimizer,
            machine.created_by.get(mine),
            kept.leaves,
            why,  # type: ignore[arg-type]
            target,
            value,
            _wrapper(state, kept.value) if why != "later" else None,
        )
    )


def refuse_nothing(machine: Machine, state: State, given: Value, call: Call) -> None:
    """An optimizer is given what ``parameters()`` found, and that is nothing: all there is lies in plain containers."""
    module = machine.facts.parameters_requested_by.get(given.id) if isinstance(given, HeapRef) else None
    thing = state.heap[module] if module is not None else None
    if (
        not isinstance(thing, Instance)
        or thing.is_partial
        or any(isinstance(v, Unknown) for v in thing.attributes.values())
    ):
        return
    for name, value in thing.attributes.items():
        leaves = tuple(_in_containers(state, value, DEPTH))
        home = machine.facts.attribute_stores.get((module, name)) if module is not None else None
        if leaves and home is not None:
            wrapper = _wrapper(state, value)
            machine.facts.events.publish(NothingToOptimize(state.point(call.node), None, leaves, *home, wrapper))
            raise ProgramRaised("ValueError", "optimizer got an empty parameter list", by_torch=True)


def _untrained(state: State, key: int) -> bool:
    """Whether passes reach a leaf, and no code has used, read, cleared or changed what it got, or the leaf itself."""
    past, tensor = state.history[key], state.tensors[key]
    write = state.writes.get(tensor.version_counter)
    return (
        bool(past.passes)
        and not (past.used or past.step or past.doubt or past.perhaps)
        and tensor.requires_grad is True
        and tensor.assumption is None
        and tensor.storage not in state.untracked_writes
        and (write is None or write.stamp < past.passes[0].stamp)
        and all(use.step is not None for run in past.passes if (use := state.consumed_passes.get(run)) is not None)
    )


def _missing(
    state: State, owner: int, lost: frozenset[int], mine: frozenset[int], built: int
) -> Iterator[tuple[str, HeldLeaves]]:
    """What the optimizer ``built`` of the leaves ``mine`` has lost of a network, if it was given the whole of it."""
    thing = state.heap[owner]
    if not _is_network(state, HeapRef(owner)) or thing.is_partial:
        return
    registered = frozenset(leaves_below(state, HeapRef(owner)))
    wanted = {key for key in registered if state.tensors[key].requires_grad}
    if not registered & mine or any(key < built for key in wanted - mine):
        return
    if owner < built and wanted - mine & lost:
        yield from (("later", kept) for kept in _added(state, HeapRef(owner), lost, built, set()))
    if isinstance(thing, Instance):
        yield from _unregistered(state, owner, thing, lost, registered)


def _unregistered(
    state: State, owner: int, thing: Instance, lost: frozenset[int], registered: frozenset[int]
) -> Iterator[tuple[str, HeldLeaves]]:
    """The lost leaves that an object keeps where ``parameters()`` does not look."""
    for name, value in thing.attributes.items():
        if isinstance(value, TensorRef):
            if value.id in lost and value.id not in registered and value.id > owner:
                yield "plain", HeldLeaves(owner, name, value, (value.id,))
        elif hidden := tuple(key for key in _in_containers(state, value, DEPTH) if key in lost and key > owner):
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
        elif _is_network(state, item):
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


def _is_network(state: State, value: Value) -> bool:
    return is_module_like(state, value)


def leaves_below(state: State, value: Value) -> list[int]:
    return [key for _, key in parameters_of(state, value)]


def _contents(state: State, value: Value) -> Iterable[Value] | None:
    """What a plain container holds; None of anything else."""
    if isinstance(value, Tuple):
        return value.items
    thing = state.heap[value.id] if isinstance(value, HeapRef) else None
    if isinstance(thing, Items) and not _is_network(state, value):
        return thing.items
    return thing.items.values() if isinstance(thing, Mapping) and thing.kind == "dict" else None


def _in_containers(state: State, value: Value, depth: int) -> Iterator[int]:
    """The leaves in a plain container, of networks or by themselves."""
    for item in _contents(state, value) or () if depth else ():
        if isinstance(item, TensorRef):
            yield item.id
        elif _is_network(state, item):
            yield from leaves_below(state, item)
        else:
            yield from _in_containers(state, item, depth - 1)


def _wrapper(state: State, value: Value) -> str | None:
    """What of ``torch.nn`` registers what ``value`` holds."""
    if isinstance(value, TensorRef):
        return "Parameter"
    items = list(_contents(state, value) or ())
    if all(_is_network(state, item) for item in items):
        what = "Module"
    elif all(isinstance(item, TensorRef) for item in items):
        what = "Parameter"
    else:
        return None
    thing = state.heap[value.id] if isinstance(value, HeapRef) else None
    if isinstance(thing, Mapping):
        return f"{what}Dict" if all(isinstance(key, str) for key in thing.items) else None
    return f"{what}List" if not isinstance(thing, Items) or thing.kind in ("list", "tuple") else None
