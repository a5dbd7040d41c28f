"""The families of dtypes, where they are certain: only floating point can require grad.

torch.arange(3)      int
torch.arange(3) / 2  float
x > 0                bool
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ...domain.state import State
from ...domain.values import NONE, Const, External, HeapRef, Origin, TensorRef, Tuple, Unknown
from ...ops import Op, Trait
from ...ops.conversions import BY_NAME, Family, family_of
from .known_shape import items_in

Kind = Family | Literal["other"] | None

MAKES: Mapping[Trait, Kind] = {"makes-float": "float", "makes-int": "int", "makes-bool": "bool"}


DTYPE_OF_KIND: dict[Kind, Origin] = {
    "float": Origin.FLOAT_DTYPE,
    "int": Origin.INT_DTYPE,
    "bool": Origin.BOOL_DTYPE,
    "other": Origin.OTHER_DTYPE,
}
"""The origin of ``x.dtype`` for a tensor of a known family."""
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
