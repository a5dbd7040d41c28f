"""What the gradient of an op depends on: what a graph of gradients (``create_graph=True``) is made of.

    exp: self<result                      the gradient of self is a product with the result
    mul/Tensor: other<self* self<other*   each depends on the other factor
    max:                                  nothing: which element is the largest has no gradient
    linear/train: input<weight* ...       a layer, by the row it runs by

The lines of ``second.txt`` are measured (``tools/ops/second.py``, ``second_layers.py``). ``*`` after a name: the graph
of the gradient keeps that tensor if the gradient that came in is recorded itself; ``!``: it always keeps it. ``?``
instead of names: it differs from call to call.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ..frozen import frozen

SECOND = Path(__file__).with_name("second.txt")


@frozen
class Need:
    """A parameter (or ``result``) that a gradient depends on, and when its graph keeps it."""

    name: str
    always: bool = False
    recorded: bool = False


Needs = dict[str, "tuple[Need, ...] | None"]
"""For the gradient of each parameter what it depends on; None where that differs from call to call."""


@cache
def _lines() -> dict[str, str]:
    lines = (line.partition(":") for line in SECOND.read_text(encoding="utf-8").splitlines() if line[:1] != "#")
    return {name: words for name, _, words in lines}


@cache
def gradient_needs(name: str, overload: str) -> Needs | None:
    """None for an op that could not be measured."""
    words = _lines().get(f"{name}/{overload}" if overload else name)
    if words is None:
        return None
    found: Needs = {}
    for word in words.split():
        parameter, _, names = word.partition("<")
        found[parameter] = None if names == "?" else tuple(_need(item) for item in names.split(","))
    return found


def _need(word: str) -> Need:
    return Need(word.rstrip("!*"), word.endswith("!"), word.endswith("*"))
