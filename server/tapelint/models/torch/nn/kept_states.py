"""A ``state_dict()`` that is kept while training goes on.

best = net.state_dict()      # the parameters' own memory, by name
optimizer.step()
net.load_state_dict(best)    # loads what the parameters are now: nothing changes
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Literal

from ....autograd import Write
from ....autograd.events.graph_walks import OwnStateUsed
from ....autograd.facts import StateTaken
from ....domain.state import State
from ....domain.values import NONE, HeapRef, Mapping, TensorRef, Value
from ....engine.machine import Machine
from ..registry import Call, function


def note_state(machine: Machine, state: State, taken: int, parameters: Sequence[int], node: ast.AST) -> None:
    """The mapping with the heap id ``taken`` holds the memory of these parameters."""
    versions = tuple((key, state.version(state.tensors[key].version_counter)) for key in parameters)
    machine.facts.networks.states_taken[taken] = StateTaken(versions, state.point(node))


def tell_own_state(
    machine: Machine,
    state: State,
    value: Value,
    parameters: Sequence[int] | None,
    use: Literal["load", "save"],
    node: ast.AST,
) -> None:
    """Publish that ``value`` was taken of the same parameters, if they are given, and that they were written since."""
    if not isinstance(value, HeapRef):
        return
    taken = machine.facts.networks.states_taken.get(value.id)
    if taken is None or not _is_own(state, value, taken):
        return
    if parameters is not None and [key for key, _ in taken.versions] != [*parameters]:
        return
    for key, version in taken.versions:
        write = _step_since(state, key, version)
        if write is not None:
            machine.facts.events.publish(
                OwnStateUsed(
                    point=state.point(node),
                    taken=taken.point,
                    write=write,
                    use=use,
                    source=node.args[0] if isinstance(node, ast.Call) and node.args else None,
                    because=state.tensors[key].because,
                )
            )
            return


def _is_own(state: State, value: HeapRef, taken: StateTaken) -> bool:
    """Whether all that is in the mapping is still the parameters' own memory."""
    thing = state.heap[value.id]
    counters = {state.tensors[key].version_counter for key, _ in taken.versions}
    return isinstance(thing, Mapping) and all(
        isinstance(v, TensorRef) and state.tensors[v.id].version_counter in counters for v in thing.items.values()
    )


def _step_since(state: State, key: int, version: int) -> Write | None:
    """The first write to a parameter since it had a version, if an optimizer made it for certain."""
    last = state.writes.get(state.tensors[key].version_counter)
    write = last.since(version) if last is not None else None
    return write if write is not None and write.by_optimizer and write.certain else None


@function("torch.save")
def save(machine: Machine, state: State, call: Call) -> Value:
    """``torch.save(state, path)``, where the state may be in a dict with others."""
    value = call.get(0, "obj")
    thing = state.heap[value.id] if isinstance(value, HeapRef) else None
    held = [*thing.items.values()] if isinstance(thing, Mapping) else []
    for each in (value, *held):
        tell_own_state(machine, state, each, None, "save", call.node)
    return NONE
