"""Which way a test goes if every option has its default, and what is supposed on a path that goes another way.

    if args.amp: ...           false by default: the way into the body supposes that `--amp` is given
    if args.clip > 0: ...      true with the default 1.0
    if args.debug and x: ...   false by default, whatever x is

A path that has a premise goes on as with the defaults of all other options. Two at once are supposed for what is run
with no fewer: `if args.a and args.b`, and a test in the code that only the first of the two leads to.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import lru_cache, partial, wraps
from itertools import combinations, product
from typing import Any, TypeVar

from ...because import NOTHING, Because, all_hold
from ...bounds import BOUNDS
from ...domain.induction import InductionValue
from ...domain.options import Option
from ...domain.values import Const, Tuple

OPERATORS: dict[str, Callable[..., Any]] = {
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Eq": operator.eq,
    "Is": lambda left, right: left is right or left == right and isinstance(left, (bool, str, int)),
    "In": lambda left, right: left in right,
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "USub": operator.neg,
    "len": len,
    "int": int,
    "float": float,
    "str": str,
    "bool": bool,
    "abs": abs,
    "lower": str.lower,
    "upper": str.upper,
    "strip": str.strip,
    "startswith": str.startswith,
    "endswith": str.endswith,
}
"""What the formulas of ``conditions`` are computed with, by the name that stands first in them."""

Values = Callable[[Option], Const | None]
T = TypeVar("T")


def kept(compute: Callable[..., T]) -> Callable[..., T]:
    """Compute once what is asked of a formula. Where an induction value is in it, it is computed each time: to read
    that is an observation, which has to be made again.
    """
    known = lru_cache(BOUNDS.kept_answers)(compute)

    @wraps(compute)
    def answer(*about: Hashable) -> T:
        return compute(*about) if is_counted(about) else known(*about)

    return answer


def is_counted(formula: Hashable) -> bool:
    """Whether a formula depends on the number of an iteration."""
    if isinstance(formula, Tuple):
        formula = formula.items
    return isinstance(formula, InductionValue) or isinstance(formula, tuple) and any(map(is_counted, formula))


def by_default(formula: Hashable) -> bool | None:
    """The truth of a test where all options have their defaults; None where it depends on more, or on none."""
    return _truth_by_default(formula) if any(True for _ in options_in(formula)) else None


@kept
def _truth_by_default(formula: Hashable) -> bool | None:
    return _truth(formula, lambda option: option.default)


def options_in(formula: Hashable) -> Iterator[Option]:
    """The options that a formula is made of, in the order in which they stand there."""
    todo = [formula]
    while todo:
        part = todo.pop()
        if isinstance(part, Option):
            yield part
        elif isinstance(part, tuple):
            todo += reversed(part)


def premise_of(formula: Hashable, taken: bool) -> Because:
    """What is supposed where a test has the truth ``taken``; nothing if it has that by default, or has none."""
    if by_default(formula) in (None, taken):
        return NOTHING
    return all_hold(option.changed for option in _turned_by(formula, taken))


def is_second(supposed: Because, formula: Hashable) -> bool:
    """Whether a test asks for an option beside the only one that a path supposes."""
    return len(supposed.atoms) == 1 and all(option.changed != supposed for option in options_in(formula))


def is_possible(formula: Hashable, taken: bool) -> bool:
    """Whether a test can have the truth ``taken`` if two options at most are not left at their defaults."""
    return by_default(formula) is taken or bool(_turned_by(formula, taken))


@kept
def supposing(supposed: Because, formula: Hashable) -> bool | None:
    """The truth of a test on a path that supposes something, on which all other options have their defaults; None if it
    may have either.
    """
    changed = (option for option in options_in(formula) if not option.changed.without(supposed))
    truths = {_truth(formula, values) for values in _values_of(changed)}
    return truths.pop() if len(truths) == 1 else None


@kept
def _turned_by(formula: Hashable, taken: bool) -> tuple[Option, ...]:
    """The first option that alone may give a test the truth ``taken``: by one of its other values, or, where these are
    not known, because nothing else decides the test. Otherwise two that certainly give it together; none if none do.
    """
    options = tuple(dict.fromkeys(options_in(formula)))
    for option in options:
        if any(_truth(formula, values) in (taken, None) for values in _values_of([option])):
            return (option,)
    for pair in combinations(options[: BOUNDS.paired_options], 2):
        if any(_truth(formula, values) is taken for values in _values_of(pair)):
            return pair
    return ()


def _values_of(options: Iterable[Option]) -> Iterator[Values]:
    """The values of all options where only some are not left at their defaults."""
    changed = tuple(dict.fromkeys(options))
    for others in product(*(option.others or (None,) for option in changed)):
        yield partial(_changed, dict(zip(changed, others)))


def _changed(changed: Mapping[Option, Const | None], asked: Option) -> Const | None:
    return changed[asked] if asked in changed else asked.default


def _truth(formula: Hashable, values: Values) -> bool | None:
    if isinstance(formula, tuple) and formula:
        if formula[0] == "Not":
            inner = _truth(formula[1], values)
            return None if inner is None else not inner
        if formula[0] in ("And", "Or"):
            found = [_truth(part, values) for part in formula[1:]]
            stop = formula[0] == "Or"
            return stop if stop in found else None if None in found else not stop
    known = _value(formula, values)
    return None if known is None else bool(known.value)


def _value(formula: Hashable, values: Values) -> Const | None:
    """What a formula gives; None where that is not known."""
    match formula:
        case Option():
            return values(formula)
        case Const():
            return formula
        case Tuple(items):
            return _computed(lambda *parts: parts, items, values)
        case ("Not", *_):
            truth = _truth(formula, values)
            return None if truth is None else Const(truth)
        case tuple() if formula and isinstance(name := formula[0], str):
            if name in ("And", "Or"):
                return _deciding(formula[1:], name == "Or", values)
            if name in OPERATORS:
                return _computed(OPERATORS[name], formula[1:], values)
    return None


def _deciding(parts: Iterable[Hashable], stop: bool, values: Values) -> Const | None:
    """The part that ``and`` or ``or`` gives: the first one whose truth is ``stop``, else the last."""
    given: Const | None = None
    for part in parts:
        given = _value(part, values)
        if given is None or bool(given.value) is stop:
            break
    return given


def _computed(compute: Callable[..., Any], parts: Iterable[Hashable], values: Values) -> Const | None:
    """What is computed from the values of ``parts``, if all of them are known."""
    given = [_value(part, values) for part in parts]
    if None in given:
        return None
    try:
        return Const(compute(*(each.value for each in given if each is not None)))
    except (TypeError, ValueError, ArithmeticError, AttributeError):
        return None
