"""Values that tests are tried out on: whether something can pass all of them.

name.startswith("a"), name == "abc", "x" in name      texts made of these pieces
isinstance(v, list), isinstance(v, (tuple, dict))     something of every kind
len(xs) == 0, len(xs) > 2                             whole numbers from nothing on
"""

from __future__ import annotations

import builtins
import collections
import collections.abc
import math
import numbers
from collections.abc import Hashable
from functools import cache, lru_cache
from typing import Any

from ...bounds import BOUNDS
from ...domain.values import Const, External, Tuple
from ...ops.layers import ROOT, base_of, bases

Simple = tuple[str, Any, bool]
"""What a value is asked, with what, and the answer."""

COUNTS = frozenset("len dim numel size".split())
"""What gives a whole number that is never negative: ``len``, and the sizes of a torch.Tensor."""


class Tensor:
    """Stands for ``torch.Tensor`` where kinds are compared."""

    __iter__ = __len__ = None


class Parameter(Tensor):
    """Stands for ``torch.nn.Parameter``."""


class Array:
    """Stands for ``numpy.ndarray``."""


class Module:
    """Stands for ``nn.Module``."""


STAND_INS: dict[str, type] = {
    "torch.Tensor": Tensor,
    "torch.nn.Parameter": Parameter,
    "torch.nn.parameter.Parameter": Parameter,
    "torch.nn.Module": Module,
    "numpy.ndarray": Array,
}
SOMETHING: tuple[object, ...] = (
    *(None, True, False, 0, 1, 2.5, 1j, "", "(another)", b"", b"b", [], [0], (), (0,), {}, {0: 0}, set(), {0}),
    *(frozenset(), frozenset({0}), collections.OrderedDict(a=0), collections.deque([0]), object()),
    *(Tensor(), Parameter(), Array(), Module()),
)
"""Something of every kind, true and false."""


@lru_cache(4096)
def kinds(named: Hashable) -> tuple[type, ...] | None:
    """The classes that ``isinstance`` is asked about, where they are known."""
    if isinstance(named, Tuple):
        found = [kinds(item) for item in named.items]
        return None if None in found else tuple(each for some in found for each in some or ())
    kind = _kind(named.name) if isinstance(named, External) else None
    return None if kind is None else (kind,)


def _kind(name: str) -> type | None:
    if name in STAND_INS:
        return STAND_INS[name]
    place, _, last = name.rpartition(".")
    if place == "torch.nn":
        return _layers().get(last)
    found = getattr(HOMES.get(place), last, None)
    return found if isinstance(found, type) and found is not object else None


HOMES = {"builtins": builtins, "collections": collections, "collections.abc": collections.abc, "numbers": numbers}


@cache
def _layers() -> dict[str, type]:
    """What stands for each layer of PyTorch."""
    made: dict[str, type] = {ROOT: Module}

    def make(name: str, base: str) -> type:
        if name not in made:
            made[name] = type(name, (make(base, base_of(base) or ROOT),), {})
        return made[name]

    for name, base in bases().items():
        make(name, base)
    return made


def witnesses(subject: Hashable, checks: list[Simple]) -> list[Any]:
    """Values for ``subject`` to try ``checks`` on."""
    constants = [item for _, right, _ in checks for item in (right if isinstance(right, tuple) else (right,))]
    # No number lies between others and infinity that a mean would find, and NaN has no place among them.
    whole = sorted({c for c in constants if isinstance(c, (int, float)) and -math.inf < c < math.inf})
    if isinstance(subject, tuple) and subject:
        if subject[0] in COUNTS:
            return sorted({max(int(c) + step, 0) for c in (0, *whole) for step in (-1, 0, 1)})
        if subject[0] == "Mod" and isinstance(subject[2], Const):
            remainders = _remainders(subject[2].value, constants, whole)
            if remainders is not None:
                return remainders
    return [*_around(constants, whole), *_of_other_kinds(constants, checks)]


def _remainders(divisor: Any, constants: list[Any], whole: list[Any]) -> list[Any] | None:
    """All remainders of a division, where they are few and compared with whole numbers alone."""
    if type(divisor) is not int or not 0 < divisor <= BOUNDS.divisor or not all(type(c) is int for c in whole):
        return None
    return list(range(divisor)) if len(whole) >= len([c for c in constants if c is not None]) else None


def _around(constants: list[Any], whole: list[Any]) -> list[Any]:
    """The constants, numbers between and beyond them, and plain values that are true or false."""
    between = [_between(low, high) for low, high in zip(whole, whole[1:])]
    beyond = [whole[0] - 1, whole[-1] + 1, -math.inf, math.inf] if whole else []
    return [*constants, *between, *beyond, None, True, False, 0, "", "(another)", object()]


def _of_other_kinds(constants: list[Any], checks: list[Simple]) -> list[Any]:
    """Objects of many classes, containers and texts, where the checks ask for such."""
    found: list[Any] = []
    asked = {name for name, _, _ in checks}
    if "isinstance" in asked:
        found += [*SOMETHING, *(kind() for kind in constants if isinstance(kind, type) and issubclass(kind, Module))]
    if "Has" in asked:
        wanted = [right for name, right, truth in checks if name == "Has" and truth]
        found += [kind(wanted) for kind in (list, tuple, set, frozenset)] + [dict.fromkeys(wanted)]
    if asked & {"Has", "startswith", "endswith"}:
        found += _texts(checks)
    return found


def _between(low: float, high: float) -> float:
    try:
        return low + (high - low) / 2
    except OverflowError:  # whole numbers larger than any float
        return (int(low) + int(high)) // 2


def _texts(checks: list[Simple]) -> list[str]:
    """Texts that begin, go on and end with what is asked for."""

    def pieces(asked: str) -> list[str]:
        right = [right for name, right, _ in checks if name == asked]
        flat = [item for each in right for item in (each if isinstance(each, tuple) else (each,))]
        return ["", *(item for item in flat[: BOUNDS.text_pieces] if isinstance(item, str))]

    inner = ["-".join(right for name, right, truth in checks if name == "Has" and truth and isinstance(right, str))]
    inner += pieces("Has")
    return [a + b + c for a in pieces("startswith") for b in inner for c in pieces("endswith")]
