"""What is supposed of a length that is not known where a loop runs over it.

for i in range(depth):          # runs three times: `depth` is more than 2, and the last `i` is `depth - 1`
    x = layer(x)
    if i < depth - 1:           # true in the first two iterations, false in the last
        x = relu(x)
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from ...domain.state import State
from ...domain.values import Const, External, Range, Unknown, Value, Zip
from ..paths.conditions import assume, only_way
from ..paths.defaults import by_default
from ..paths.entailment import entailed


def before(bound: Hashable) -> Hashable:
    """The formula of the last number of a range that ends at ``bound``."""
    return "Sub", bound, Const(1)


def assume_as_many(state: State, iterable: Value, count: int) -> None:
    """Note on a path that a loop over ``iterable`` runs ``count`` times, which it does on this path. Nothing is noted
    where an option says how often, or where less was assumed before.
    """
    for bound, first in _bounds(iterable):
        key = "Gt", bound, Const(first + count - 1)
        if by_default(key) is None and entailed(state.path_condition, key) is None:
            assume(state, key, True)


def as_by_default(iterable: Value, most: int) -> tuple[int, Hashable] | None:
    """How many iterations there are where every option has its default, and the formula that is true if there is one
    more; None where no option says, or it says more than ``most``.
    """
    keys = ((n, ("Gt", bound, Const(first + n))) for n in range(most) for bound, first in _bounds(iterable))
    return next(((number, key) for number, key in keys if by_default(key) is False), None)


def suppose_more(paths: list[State], more: Hashable) -> tuple[list[State], list[State]]:
    """The ``paths`` that go on to an iteration which there is not by default, on the premise that there is, and those
    that have ended by then.
    """
    going: list[State] = []
    ended: list[State] = []
    for path in paths:
        known = entailed(path.path_condition, more)
        if known is None and (known := only_way(path, more)) is None:
            ended.append(path.fork())
            assume(ended[-1], more, False)
            assume(path, more, True)
            known = True
        (going if known else ended).append(path)
    return going, ended


def _bounds(iterable: Value) -> Iterator[tuple[Hashable, int]]:
    """The formulas of unknown numbers at which an iteration ends, each with the number at which it begins."""
    match iterable:
        case Range(start=int(start), stop=None, bound=bound) if bound is not None:
            yield bound, start
        case Zip(parts=parts):
            for part in parts:
                yield from _bounds(part)
        case Unknown(formula=formula):
            yield ("len", formula or iterable), 0
        case External():
            yield ("len", iterable), 0
