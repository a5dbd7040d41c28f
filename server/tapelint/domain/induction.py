"""Numbers that count iterations, and whether any code looks at them.

    for epoch in range(args.epochs):            # 0, 1, and then some number
        for x, y in loader:
            train(model, x, y)
        print(f"epoch {epoch}")                 # what is only shown decides nothing
        if epoch == 0: warm_up(model)           # here an iteration differs from the next by its number

Where no code has looked at its number, an iteration is what any other one that begins alike would be
(``engine/loops/convergence.py``).
The same holds for the number of items of a list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..autograd import fresh_id
from ..bounds import BOUNDS
from .values import Const, Origin, Tuple, Unknown, Value


class Observations:
    """Which induction values, and which lists by their length, have decided something in the running unit."""

    __slots__ = ("keys",)

    def __init__(self, keys: set[int]) -> None:
        # Heap ids of lists, and ids of induction values.
        self.keys = keys

    def add(self, *keys: int) -> None:
        """The number of items in the list ``key``, or an item, may decide what is done now."""
        self.keys.update(keys)

    def has(self, *keys: int) -> bool:
        """Whether one of them was observed."""
        return not self.keys.isdisjoint(keys)

    @contextmanager
    def collected(self) -> Iterator[set[int]]:
        """What is observed while this lasts. It counts only if the caller adds it."""
        outer, self.keys = self.keys, set()
        try:
            yield self.keys
        finally:
            self.keys = outer


class InductionValue(Const):
    """A constant that depends on the number of an iteration. Reading its ``value`` is recorded as an observation: what
    is done then may be something else in another iteration.
    """

    __slots__ = ("_number", "_observations", "_keys", "grows", "begun")
    _number: Any
    _observations: Observations
    _keys: tuple[int, ...]
    # Whether the program counts it, not a loop.
    grows: bool
    # Whether it was counted before any code that was executed.
    begun: bool

    def __init__(
        self, number: Any, observations: Observations, *of: Const, grows: bool = False, begun: bool = False
    ) -> None:
        """An observation of it is one of the values ``of`` which it was made."""
        sources = [source for source in of if isinstance(source, InductionValue)]
        object.__setattr__(self, "_number", number)
        object.__setattr__(self, "_observations", observations)
        object.__setattr__(self, "_keys", (*(key for source in sources for key in source._keys), fresh_id()))
        object.__setattr__(self, "grows", grows or any(source.grows for source in sources))
        object.__setattr__(self, "begun", begun or any(source.begun for source in sources))

    @property
    def value(self) -> Any:
        self._observations.keys.update(self._keys)
        return self._number

    @property
    def is_observed(self) -> bool:
        """Whether its number, or that of anything it was made of, has decided something."""
        return not self._observations.keys.isdisjoint(self._keys)

    def __eq__(self, other: object) -> bool:
        return self is other or isinstance(other, Const) and bool(self._number == raw_value(other))

    def __hash__(self) -> int:
        return hash((self._number,))

    def __repr__(self) -> str:
        return f"Counted({self._number!r})"


def raw_value(constant: Const) -> Any:
    """The number, for what only makes another one of it."""
    return constant._number if isinstance(constant, InductionValue) else constant.value


def is_number(value: Value) -> bool:
    """Whether it is a number of Python for certain."""
    if isinstance(value, Unknown):
        return value.origin is Origin.NUMBER
    return isinstance(value, Const) and isinstance(raw_value(value), (int, float))


def is_plain(value: Value) -> bool:
    """Whether there is certainly no tensor in it: a number, a text, None, a tuple of such."""
    if isinstance(value, Tuple):
        return all(map(is_plain, value.items))
    return isinstance(value, Const) or is_number(value)


def derived(how: Callable[..., Any], *of: Const) -> Const:
    """The constant that ``how`` makes of others: an induction value if one of them is, which does not observe them."""
    sources = [source for source in of if isinstance(source, InductionValue)]
    if 0 < sum(len(source._keys) for source in sources) < BOUNDS.induction_sources:
        return InductionValue(how(*map(raw_value, of)), sources[0]._observations, *of)
    return Const(how(*(source.value for source in of)))
