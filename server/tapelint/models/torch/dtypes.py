"""The families of dtypes, where they are certain: only floating point can require grad.

torch.arange(3)      int
torch.arange(3) / 2  float
x > 0                bool

Of which tensors it is certain that they are of the default type, single precision.

x = torch.rand(3)                  # it is
y = (x * 2).sum()                  # and so is what is computed from it
with torch.autocast("cpu"):
    h = net(x)                     # unknown
    loss = F.mse_loss(y, x)        # saves x itself, where it would save a longer copy of h

Inside of ``torch.autocast`` most ops save copies of their inputs in another type (``ops.casting``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ...domain.state import State
from ...domain.values import FALSE, NONE, Autocast, Const, External, HeapRef, Origin, TensorRef, Tuple, Unknown, Value
from ...engine.machine import Machine
from ...ops import Op, Trait
from ...ops.conversions import BY_NAME, OTHER_FLOATS, Family, family_of
from .known_shape import items_in
from .registry import Call, function

Kind = Family | Literal["other"] | None

MAKES: Mapping[Trait, Kind] = {"makes-float": "float", "makes-int": "int", "makes-bool": "bool"}


DTYPE_OF_KIND: dict[Kind, Origin] = {
    "float": Origin.FLOAT_DTYPE,
    "int": Origin.INT_DTYPE,
    "bool": Origin.BOOL_DTYPE,
    "other": Origin.OTHER_DTYPE,
}
"""The origin of ``x.dtype`` for a tensor of a known family."""
SINGLE = ("torch.float32", "torch.float")
KIND_OF_DTYPE = {origin: kind for kind, origin in DTYPE_OF_KIND.items()}


def of_dtype(value: object) -> Kind:
    """The family of ``torch.long``, ``float``, ``torch.LongTensor``, ``x.dtype``."""
    if isinstance(value, Unknown):
        return KIND_OF_DTYPE.get(value.origin)
    if isinstance(value, Const) and isinstance(value.value, str):
        value = External(value.value)
    if not isinstance(value, External):
        return None
    name = value.name.rpartition(".")[2].removesuffix("Tensor").lower() or "tensor"
    return family_of(name)


def _is_dtype(value: object) -> bool:
    return isinstance(value, External) and value.name.startswith("torch.") and not value.name.endswith("Tensor")


def are_same(left: object, right: object) -> bool | None:
    """Whether two dtypes are equal, one of them that of a tensor; None where only their families are known to be."""
    if not any(isinstance(each, Unknown) and each.origin in KIND_OF_DTYPE for each in (left, right)):
        return None
    if not all(isinstance(each, Unknown) or _is_dtype(each) for each in (left, right)):
        return None
    kinds = of_dtype(left), of_dtype(right)
    if None in kinds or "other" in kinds or kinds[0] == kinds[1] != "bool":
        return None
    return kinds[0] == kinds[1]


def asked_of_dtype(value: object, question: str) -> bool | None:
    """``dtype.is_floating_point``, ``dtype.is_complex``; None where it is not known."""
    if isinstance(value, Unknown):
        return False if KIND_OF_DTYPE.get(value.origin) in ("int", "bool") else None
    known = BY_NAME.get(value.name.removeprefix("torch.")) if isinstance(value, External) else None
    if known is None or known.family is None:
        return None
    return known.is_complex if question == "is_complex" else known.family == "float" and not known.is_complex


OF_NUMBERS: dict[type, Kind] = {bool: "bool", int: "int", float: "float"}
"""The family of a tensor made from one number."""


def of_values(state: State, value: object, above: tuple[object, ...] = ()) -> Kind:
    """The family of a tensor made from a value: what is highest among its numbers. Of a list that is one of those it
    was found in (``above``) no tensor is made.
    """
    if isinstance(value, Const):
        return OF_NUMBERS.get(type(value.value))
    if isinstance(value, TensorRef):
        return state.tensors[value.id].kind
    items = items_in(state, value) if isinstance(value, (HeapRef, Tuple, tuple)) and value not in above else None
    if items is None:
        return None
    within = (*above, value)
    return highest([of_values(state, item, within) for item in items]) if items else "float"


def highest(kinds: list[Kind]) -> Kind:
    if None in kinds or "other" in kinds:
        return "float" if "float" in kinds else None
    return next((kind for kind in ("float", "int", "bool") if kind in kinds), None)


def result_kind(state: State, op: Op, named: Mapping[str, object]) -> Kind:
    """The family of what ``op`` returns, where it is certain; a float operand alone says it by itself."""
    if "dtype" in named and named["dtype"] != NONE:
        return of_dtype(named["dtype"])
    traits = op.traits
    for trait, kind in MAKES.items() if traits else ():
        if trait in traits:
            return kind
    if "makes-as-numbers" in traits:
        return highest([of_values(state, named[n]) for n in ("fill_value", "start", "end", "step") if n in named])
    if "keeps-family" in traits:
        kind = highest([of_values(state, named[n]) for n in ("self", "other", "exponent", "tensors") if n in named])
        return "int" if kind == "bool" and "counts-bools" in traits else kind
    return None


def follow(
    machine: Machine, op: Op, named: Mapping[str, object], given: list[tuple[str, int]], keys: tuple[int, ...]
) -> None:
    """``op`` has made ``keys`` of the tensors ``given``."""
    single, flows, traits = machine.facts.contents.float32, op.flows, op.traits
    if "other-dtype" in traits or len(named) > 1 and _asks_for_other(named):
        return
    if "default-dtype" in traits:
        single.update(keys)
    elif (flows or op.view) and not (machine.facts.running.casting and "may-shorten" in traits):
        made = keys if op.outputs < 0 else keys[:1]  # the others may be indices
        _keep_type(machine, {key for name, key in given if name in flows or not flows}, made)


def _keep_type(machine: Machine, sources: set[int], made: tuple[int, ...]) -> None:
    """What is made of tensors of one type is of that type."""
    for known in (machine.facts.contents.float32, machine.facts.contents.other_floats):
        if sources and sources <= known:
            known.update(made)


def _asks_for_other(named: Mapping[str, object]) -> bool:
    """Whether a call asks for another dtype or layout, or has a complex number."""
    if named.get("dtype", NONE) != NONE or named.get("layout", NONE) != NONE:
        return True
    return any(isinstance(value, Const) and type(value.value) is complex for value in named.values())


def changes(machine: Machine, tensor: int, name: str, wanted: list[Value]) -> bool:
    """Whether the conversion ``name`` makes a copy for certain: of the default type, and another one is wanted, or the
    other way round.
    """
    if tensor in machine.facts.contents.other_floats and not machine.facts.contents.default_dtype_changed:
        return name == "float" or any(isinstance(each, External) and each.name in SINGLE for each in wanted)
    return machine.facts.is_single(tensor) and _asks(name, wanted)


def convert(machine: Machine, name: str, wanted: list[Value], tensor: int | None = None) -> None:
    """A tensor, or a module, is converted. What has another type since may still be the same thing in our model."""
    if tensor is not None and (name in ("float", "type", "type_as") or not all(map(_keeps_float, wanted))):
        machine.facts.contents.other_floats.discard(tensor)
    if name in ("type", "type_as", "_apply") or _asks(name, wanted):
        if tensor is None:
            machine.facts.contents.default_dtype_changed.add(name)
        else:
            machine.facts.contents.float32.discard(tensor)
            if _asks(name, wanted) and len(wanted) <= 1:
                machine.facts.contents.other_floats.add(tensor)


def _keeps_float(value: Value) -> bool:
    """Whether a conversion that is given this keeps another type than the default one: ``x.to(device)``."""
    return not isinstance(value, TensorRef) and not (isinstance(value, External) and value.name in SINGLE)


def note_replacement(machine: Machine, tensor: int, value: Value) -> None:
    """``tensor.data = value``: since then it is of the type of that."""
    if not isinstance(value, TensorRef) or value.id not in machine.facts.contents.float32:
        machine.facts.contents.float32.discard(tensor)


def _asks(name: str, wanted: list[Value]) -> bool:
    """Whether another type than the default one is asked for."""
    names = {value.name.rpartition(".")[2] for value in wanted if isinstance(value, External)}
    return name in OTHER_FLOATS or not names.isdisjoint(OTHER_FLOATS)


@function("torch.autocast", "torch.amp.autocast", "torch.amp.autocast_mode.autocast")
def autocast(machine: Machine, state: State, call: Call) -> Value:
    return Autocast(call.flag(2, "enabled", True) is not False)


@function("torch.cuda.amp.autocast", "torch.cpu.amp.autocast", "torch.cuda.amp.autocast_mode.autocast")
def autocast_of_device(machine: Machine, state: State, call: Call) -> Value:
    return Autocast(call.get(0, "enabled") != FALSE)
