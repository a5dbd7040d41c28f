"""Is a value true? Known, or not known; never guessed."""

from __future__ import annotations

from collections.abc import Iterable

from ...autograd import is_wide, memory_contents, resolve_view
from ...domain.completion import Caught, ProgramRaised
from ...domain.state import State
from ...domain.values import (
    BoundMethod,
    BuiltinMethod,
    Class,
    Const,
    External,
    Function,
    HeapRef,
    Instance,
    Mapping,
    Module,
    Optimizer,
    Range,
    Sequence,
    TensorRef,
    Tuple,
    Unknown,
    Value,
)
from ..machine import Machine

SEVERAL = "several"
"""The contents of a tensor that no data decide, and that are not one number (``Contents.constants``)."""


def truth(machine: Machine, state: State, value: Value) -> bool | None:
    """True, False, or None where it is not known. A choice made earlier on this path is remembered."""
    if isinstance(value, Const):
        return bool(value.value)
    if isinstance(value, Tuple):
        return bool(value.items)
    if isinstance(value, Unknown):
        if isinstance(value.formula, Caught):
            return True
        return state.path_condition.get(value)
    if isinstance(value, (HeapRef, TensorRef)):
        return (
            _object_truth(machine, state, value) if isinstance(value, HeapRef) else _held_truth(machine, state, value)
        )
    if isinstance(value, External):
        return False if value.name.endswith(".TYPE_CHECKING") else None
    if isinstance(value, Range):
        size = length(value)
        return None if size is None else size > 0
    if isinstance(value, BuiltinMethod) and machine.is_opaque(state, value):
        return state.path_condition.get(value)
    if isinstance(value, (Function, BoundMethod, BuiltinMethod, Module)):
        return True
    return None


def tested_truth(machine: Machine, state: State, value: Value) -> bool | None:
    """The same of what the program tests: PyTorch has no truth of several numbers."""
    if isinstance(value, TensorRef) and not (tensor := state.tensors[value.id]).assumption and is_wide(tensor.sizes):
        how_many = "no values" if isinstance(tensor.sizes, tuple) and 0 in tensor.sizes else "more than one value"
        raise ProgramRaised("RuntimeError", f"Boolean value of Tensor with {how_many} is ambiguous", by_torch=True)
    return truth(machine, state, value)


def _held_truth(machine: Machine, state: State, value: TensorRef) -> bool | None:
    """The truth of the number in a tensor, where it is made of constants and holds one."""
    number = (
        machine.facts.contents.constants.get(memory_contents(state, value.id))
        if machine.facts.contents.constants
        else None
    )
    sizes = resolve_view(state, value.id).sizes
    is_one = sizes is None or isinstance(sizes, tuple) and all(size == 1 for size in sizes)
    return None if number is None or number is SEVERAL or not is_one else bool(number)


def _object_truth(machine: Machine, state: State, value: HeapRef | TensorRef) -> bool | None:
    """A container is true if something is in it, any other object unless its class says what it is."""
    if isinstance(value, TensorRef):
        return _held_truth(machine, state, value)
    thing = state.heap[value.id]
    if isinstance(thing, (Sequence, Mapping)):
        machine.observations.add(value.id)
        return True if thing.items else None if thing.is_partial else False
    if isinstance(thing, Instance):
        return None if _own(state, thing, ("__bool__", "__len__")) else True
    return True if isinstance(thing, (Optimizer, Class)) else None


def _own(state: State, thing: Instance, names: tuple[str, ...]) -> bool:
    kind = thing.kind
    if not isinstance(kind, HeapRef):
        return True
    return any(name in state.get(kind.id, Class).attributes for name in names)


def length(value: Range) -> int | None:
    """How many numbers a range has, or None; it may be more than ``len`` can say (``range(10**20)``)."""
    if value.start is None or value.stop is None or not value.step:
        return None
    return max(0, -((value.start - value.stop) // value.step))


def any_of(verdicts: Iterable[bool | None]) -> bool | None:
    """Whether one of several holds."""
    found = set(verdicts)
    return True if True in found else None if None in found else False


def all_of(verdicts: Iterable[bool | None]) -> bool | None:
    """Whether each of several holds."""
    found = set(verdicts)
    return False if False in found else None if None in found else True
