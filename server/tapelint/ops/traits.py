"""What is known of ops beside what autograd records of them: ``traits_of("dropout")`` has ``"random"``.

``traits.txt`` says what each trait means, where it is known from, and which ops have it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal, cast

Trait = Literal[
    "makes-float",
    "makes-int",
    "makes-bool",
    "makes-as-numbers",
    "keeps-family",
    "counts-bools",
    "default-dtype",
    "other-dtype",
    "complex-only",
    "saves-uncast",
    "may-shorten",
    "of-sizes",
    "same-number",
    "negates",
    "truth",
    "random",
    "reorders",
    "lines-up",
    "keeps-order",
    "bends",
    "settles",
    "pointwise",
    "takes-overlapping",
    "fills-out",
    "stores",
    "measures",
    "adds",
    "scales",
    "moves",
]

TRAITS = Path(__file__).with_name("traits.txt")
_NONE: frozenset[Trait] = frozenset()


@cache
def traits_by_op() -> dict[str, frozenset[Trait]]:
    """The traits of each op that has any."""
    found: dict[str, frozenset[Trait]] = {}
    trait = ""
    for line in TRAITS.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if not words or words[0] == "#":
            continue
        if not line.startswith(" "):
            trait = words[0]
            continue
        for name in words:
            found[name] = found.get(name, _NONE) | {cast(Trait, trait)}
    return found


def traits_of(op: str) -> frozenset[Trait]:
    """The traits of an op, by its name in the table; none for a name that has no line."""
    return traits_by_op().get(op, _NONE)
