"""What is in tensors that are made of constants: one number, or several that no data decide.

known = torch.ones(n).bool()          filled with True, and so is `known.any()`
first = torch.arange(n) < 3           the same in each iteration, whatever the data are
if torch.isnan(loss): break           filled with False: what a program computes is taken for finite

A number is known of some memory until it is written (``memory_contents``).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping

from ...autograd import memory_contents
from ...autograd.model.graph import Kind
from ...domain.state import State
from ...domain.values import Const, External, Slice, TensorRef, Tuple
from ...ops.schema import Op
from ..machine import Machine
from .truth import SEVERAL

FILLED: Mapping[str, object] = {"ones": 1, "ones_like": 1, "zeros": 0, "zeros_like": 0}
"""What makes a tensor of one number."""
FINITE: Mapping[str, bool] = {"isnan": False, "isinf": False, "isfinite": True}
"""What is asked of numbers that are finite, and its answer."""
META = Const("meta")
"""The device on which tensors hold nothing."""
COMPARED: Mapping[str, Callable[[float, float], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "gt": operator.gt,
    "lt": operator.lt,
    "ge": operator.ge,
    "le": operator.le,
}


def known_in(machine: Machine, state: State, given: list[int]) -> list[object]:
    """What is in some tensors now; None for one that is not made of constants."""
    known = machine.facts.contents.constants
    return [known.get(memory_contents(state, key)) for key in given] if known else [None] * len(given)


def follow(
    machine: Machine, state: State, op: Op, named: Mapping[str, object], known: list[object], keys: tuple[int, ...]
) -> None:
    """``op`` has made or written ``keys`` of tensors in which is what is ``known``, and of other values, ``named`` by
    parameter.
    """
    number: object = None
    if op.writes:
        number = SEVERAL if known and None not in known and _are_plain(named) else None
    elif op.name in FINITE:
        number = FINITE[op.name]
    elif op.name in FILLED or op.name in ("full", "full_like"):
        filling = named.get("fill_value", Const(FILLED.get(op.name)))
        number = filling.value if isinstance(filling, Const) else None
    elif "of-sizes" in op.traits:
        number = SEVERAL
    elif known and None not in known and "random" not in op.traits:
        number = _computed(op, named, known)
    if number is not None and named.get("device") != META:
        _note(machine, state, keys, number)


def _computed(op: Op, named: Mapping[str, object], known: list[object]) -> object:
    """The number in what an op makes of constant tensors; None where something else decides as well."""
    first = known[0] if known.count(known[0]) == len(known) else SEVERAL
    if first is not SEVERAL and (op.view or "same-number" in op.traits):
        return first
    if first is not SEVERAL and "truth" in op.traits:
        return bool(first)
    if isinstance(first, bool) and "negates" in op.traits:
        return not first
    other = named.get("other")
    if isinstance(first, (int, float)) and isinstance(other, Const) and isinstance(other.value, (int, float)):
        if op.name in COMPARED:
            return COMPARED[op.name](first, other.value)
    return SEVERAL if _are_plain(named) else None


def _are_plain(named: Mapping[str, object]) -> bool:
    """Whether what an op is given beside tensors is spelled out."""
    for value in named.values():
        if not isinstance(value, (Const, External, TensorRef, Tuple, Slice)):
            return False
    return True


def number_in(machine: Machine, state: State, key: int) -> Const | None:
    """The one number that is in a tensor, as Python has it, if that and the dtype are known."""
    number = machine.facts.contents.constants.get(memory_contents(state, key))
    kind = {"float": float, "int": int, "bool": bool}.get(state.tensors[key].kind or "")
    return Const(kind(number)) if kind is not None and isinstance(number, (bool, int, float)) else None


def handed_out(machine: Machine, state: State, given: Iterable[int]) -> None:
    """Code that was not read is given tensors: it may write them."""
    for key in given if machine.facts.contents.constants else ():
        machine.facts.contents.constants.pop(memory_contents(state, key), None)


def made(machine: Machine, state: State, key: int, source: object, name: str = "tensor") -> None:
    """A tensor was made of a number of the program, if that is what the function ``name`` does."""
    is_number = isinstance(source, Const) and isinstance(source.value, (bool, int, float))
    if isinstance(source, Const) and is_number and name.rpartition(".")[2] in ("tensor", "as_tensor", "asarray"):
        _note(machine, state, (key,), source.value)


def converted(machine: Machine, state: State, source: int, result: object, kind: Kind) -> None:
    """A conversion to a dtype of the family ``kind`` gave ``result``."""
    number = machine.facts.contents.constants.get(memory_contents(state, source))
    if number is not None and isinstance(result, TensorRef) and result.id != source:
        is_same = kind != "int" or number is SEVERAL or isinstance(number, (bool, int))
        truth = bool(number) if kind == "bool" and number is not SEVERAL else number
        _note(machine, state, (result.id,), truth if is_same else SEVERAL)


def _note(machine: Machine, state: State, keys: tuple[int, ...], number: object) -> None:
    if number is not None:
        machine.facts.contents.constants.update((memory_contents(state, key), number) for key in keys)
