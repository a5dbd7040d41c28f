"""NumPy arrays that are the memory of a tensor: no version counter counts what is written through them.

p = probs.detach().numpy()      the array is the memory of `probs`
p /= p.sum()                    changes `probs`, and autograd cannot see it
t = torch.from_numpy(a)         the memory of `t` is the array

What may have been copied on the way (``.cpu()``, ``.to(...)``, another dtype) is not taken for the same memory.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from ...autograd import record_untracked_write
from ...domain.state import State
from ...domain.values import NONE, External, Slice, Unknown, Value
from ...engine.machine import Machine

WRITE = "numpy"
"""The op of such a write."""
METHODS = frozenset("fill itemset partition put resize sort".split())
"""Methods of an array that write it (https://numpy.org/doc/stable/reference/arrays.ndarray.html#array-methods)."""
FUNCTIONS = frozenset(
    f"numpy.{name}" for name in "copyto fill_diagonal put place putmask random.shuffle put_along_axis".split()
)
"""Functions that write their first argument; others write what they are given as ``out``."""


def shares(machine: Machine, state: State, array: Value, tensor: int) -> None:
    """``array`` is the memory of ``tensor``, unless that may be a copy of what the program means."""
    given = state.tensors[tensor]
    if isinstance(array, Unknown) and given.storage not in machine.facts.memory.converted:
        machine.facts.memory.arrays[array.tensor_id] = given.storage
        if given.base is not None or tensor in machine.facts.memory.parts:
            machine.facts.memory.parts.add(array.tensor_id)


def item_of(machine: Machine, owner: Unknown, index: Value) -> Unknown:
    """What ``owner`` gives at ``index``: a slice of an array is the same memory."""
    item = owner.another()
    if isinstance(index, Slice) and (memory := machine.facts.memory.arrays.get(owner.tensor_id)) is not None:
        machine.facts.memory.arrays[item.tensor_id] = memory
        machine.facts.memory.parts.add(item.tensor_id)
    return item


def is_memory(machine: Machine, value: Value) -> bool:
    """Whether a value is an array that is the memory of a tensor."""
    return isinstance(value, Unknown) and value.tensor_id in machine.facts.memory.arrays


def note_write(machine: Machine, state: State, array: Value, node: ast.AST) -> None:
    """An array was written in place."""
    memory = machine.facts.memory.arrays.get(array.tensor_id) if isinstance(array, Unknown) else None
    if isinstance(array, Unknown) and memory is not None and memory not in machine.facts.memory.converted:
        record_untracked_write(state, memory, WRITE, node, array.tensor_id)


def written_by_call(
    machine: Machine,
    state: State,
    function: Value,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
    node: ast.AST,
) -> None:
    """A function of NumPy may write what it is given."""
    if isinstance(function, External) and function.name.startswith("numpy."):
        note_write(machine, state, kwargs.get("out", NONE), node)
        if function.name in FUNCTIONS and args:
            note_write(machine, state, args[0], node)
