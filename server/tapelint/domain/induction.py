"""Numbers that count iterations, and whether any code looks at them.

    for epoch in range(args.epochs):            # 0, 1, and then some number
        for x, y in loader:
            train(model, x, y)
        print(f"epoch {epoch}")                 # what is only shown decides nothing
        if epoch == 0: warm_up(model)           # here an iteration differs from the next by its number

Where no code has looked at its number, an iteration is what any other one that begins alike would be (``repeating``).
The same holds for the number of items of a list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ..autograd import fresh_id
from .values import Const, Origin, Tuple, Unknown, Value

MOST = 8
"""Of how many counted numbers another one may be made; one that is made of more counts as looked at."""

_looks: ContextVar[set[int] | None] = ContextVar("looks", default=None)


@contextmanager
def watched(looks: set[int]) -> Iterator[None]:
    """While this lasts it is noted in ``looks`` what is looked at."""
    token = _looks.set(looks)
    try:
        yield
    finally:
        _looks.reset(token)


@contextmanager
def collect_observations() -> Iterator[set[int]]:
    """What is looked at while this lasts; whether that counts is for the caller to say (``count``)."""
    found: set[int] = set()
    token = _looks.set(found)
    try:
        yield found
    finally:
        _looks.reset(token)


def count(found: set[int]) -> None:
    """All of this has been looked at."""
    for key in found:
        observe(key)


def observe(key: int) -> None:
    """How many things the list ``key`` holds, or which, may decide what is done now."""
    looks = _looks.get()
    if looks is not None:
        looks.add(key)


def is_observed(*keys: int) -> bool:
    looks = _looks.get()
    return looks is None or not looks.isdisjoint(keys)


class InductionValue(Const):
    """A constant that depends on the number of an iteration. Code that asks for its ``value`` is noted: what is done
    then may be something else in another iteration.
    """

    __slots__ = ("_number", "_keys", "grows", "begun")
    _number: Any
    _keys: tuple[int, ...]
    grows: bool
    begun: bool

    def __init__(self, number: Any, *of: Const, grows: bool = False, begun: bool = False) -> None:
        """What was made of the numbers ``of`` is looked at where it is. One that ``grows`` is counted by the program,
        not by a loop; one that has ``begun`` was counted before any code looked.
        """
        sources = [source for source in of if isinstance(source, InductionValue)]
        object.__setattr__(self, "_number", number)
        object.__setattr__(self, "_keys", (*(key for source in sources for key in source._keys), fresh_id()))
        object.__setattr__(self, "grows", grows or any(source.grows for source in sources))
        object.__setattr__(self, "begun", begun or any(source.begun for source in sources))

    @property
    def value(self) -> Any:
        for key in self._keys:
            observe(key)
        return self._number

    @property
    def is_observed(self) -> bool:
        """Whether its number, or that of anything it was made of, has been of use to any code."""
        return is_observed(*self._keys)

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
    """The constant ``how`` makes of others: counted, and not looked at for that, if one of them is."""
    if sum(len(source._keys) for source in of if isinstance(source, InductionValue)) in range(1, MOST):
        return InductionValue(how(*map(raw_value, of)), *of)
    return Const(how(*(source.value for source in of)))
