"""A value that a list keeps, and that is written before the next one is kept: all entries are the same memory.

    for step in range(100):
        x += v                          # in place
        trajectory.append(x)            # one tensor, a hundred times
    plot(torch.stack(trajectory))

Only what is surely the same memory counts (the tensor, its ``.data`` or ``detach()``, the array of it), only where a
write between is certain, and only where the file reads the list.
"""

from __future__ import annotations

import ast

from ..autograd import Write
from ..autograd.events.graph_walks import KeptValueOverwritten
from ..autograd.facts import Kept
from ..autograd.state import fresh_id
from ..because import NOTHING, Because
from ..domain.state import State
from ..domain.values import Sequence, TensorRef, Unknown, Value
from ..engine.lifecycle import Appended
from ..engine.machine import Machine
from ..source import written
from .kept_values import uses_of_name


def on_appended(machine: Machine, event: Appended) -> None:
    """Publish that a list has kept the same memory before, and that it was written since."""
    state, facts = event.state, machine.facts
    memory = _memory(machine, state, event.value)
    if memory is None:
        return
    now = Kept(fresh_id(), state.point(event.call), _key(event.value))
    before = facts.origins.kept_in.setdefault((event.container, memory), now)
    if before is now or not _holds(state, event.container, before):
        return
    write = _written_since(state, memory, event.value, before.stamp)
    if write is not None and _is_read(machine, event.call):
        facts.events.publish(
            KeptValueOverwritten(
                point=now.point,
                because=_reason(state, event.value, memory) or write.because,
                first=before.point,
                write=write,
                memory=memory,
                is_array=isinstance(event.value, Unknown),
            )
        )


def _memory(machine: Machine, state: State, value: Value) -> int | None:
    """The storage of which a value is the whole; None where that is not certain. A parameter by itself is kept to have
    the parameter.
    """
    if isinstance(value, Unknown):
        key, memory = value.tensor_id, machine.facts.memory.arrays.get(value.tensor_id)
    elif isinstance(value, TensorRef):
        tensor = state.tensors[value.id]
        key, memory = value.id, None if tensor.base is not None or tensor.parameter else tensor.storage
    else:
        return None
    return None if memory in machine.facts.memory.converted or key in machine.facts.memory.parts else memory


def _key(value: Value) -> int:
    return value.tensor_id if isinstance(value, Unknown) else value.id if isinstance(value, TensorRef) else -1


def _holds(state: State, container: int, kept: Kept) -> bool:
    """Whether the list still has what it kept, beside what was put into it last."""
    thing = state.heap.get(container)
    return isinstance(thing, Sequence) and kept.key in (_key(item) for item in thing.items[:-1])


def _written_since(state: State, memory: int, value: Value, stamp: int) -> Write | None:
    """The first certain write to the memory after ``stamp``."""
    counters = {memory}
    if isinstance(value, TensorRef):
        counters.add(state.tensors[value.id].version_counter)
    last = [*(state.writes.get(counter) for counter in counters), state.untracked_writes.get(memory)]
    found = [w for each in last if each is not None for w in each.chain() if w.certain and w.stamp > stamp]
    return min(found, key=lambda w: w.stamp, default=None)


def _is_read(machine: Machine, call: ast.AST) -> bool:
    """Whether the file does more with the list than to fill it."""
    function = call.func if isinstance(call, ast.Call) else None
    holder = function.value if isinstance(function, ast.Attribute) else None
    name = f".{holder.attr}" if isinstance(holder, ast.Attribute) else written(holder) if holder is not None else ""
    uses = machine.query(uses_of_name, name, machine.tree)
    return uses.shown or uses.taken


def _reason(state: State, value: Value, memory: int) -> Because:
    tensors = (state.tensors.get(key) for key in (_key(value), memory))
    return next((tensor.because for tensor in tensors if tensor is not None and tensor.assumption), NOTHING)
