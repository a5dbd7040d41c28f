"""Values that a program is given from outside, and what they are where it is given none.

    parser.add_argument("--amp", action="store_true")
    args = parser.parse_args()
    if args.amp: ...              # both ways; the one on which it is true supposes that `--amp` is given

Such a value is an ``Unknown`` whose formula is the ``Option``. A path that goes another way than with the default has a
premise (``engine.paths.defaults``).

What is asked of the facts that paths assume.

    @once_for_each_fact
    def values_of_fact(fact): ...

A fact is one object on all paths that assume it, and a formula may be deep: to hash it takes as long as to look through
it. So what was found is known by the identity of the fact.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import wraps
from typing import TypeVar

from ..because import Because, option
from ..bounds import BOUNDS
from ..frozen import frozen
from .values import Const, Origin, Unknown, Value


@frozen
class Option:
    """A value that has a default and may be another one."""

    default: Const
    # What is supposed of a path on which it is another one.
    premise: str
    # All that it may be beside the default; None where that is anything.
    others: tuple[Const, ...] | None = None

    @property
    def changed(self) -> Because:
        """The reason of a path on which it is another one."""
        return option(self.premise)


def optional(given: Option, note: str) -> Unknown:
    """The value of an option: data, a number if its default is one."""
    default = given.default.value
    is_number = isinstance(default, (int, float)) and not isinstance(default, bool)
    return Unknown(note, False, formula=given, origin=Origin.NUMBER if is_number else Origin.ANY)


def settled(value: Value) -> Value:
    """A value, or the default of the option that it is: for what has no other way to go on, such as a look-up."""
    if isinstance(value, Unknown) and isinstance(value.formula, Option):
        return value.formula.default
    return value


def left_at(name: str, default: Const) -> Option:
    """What is called ``name`` and has a default: ``-x`` of a command line, or an argument. Where it is not left at that
    the premise of a path says so.
    """
    is_flag = name.startswith("-") and (default.value is None or default.value is False)
    return Option(default, f"`{name}` is given" if is_flag else f"`{name}` is not left at `{default.value!r}`")


def is_hashable(value: Const) -> bool:
    """Whether a constant may be part of a formula."""
    return isinstance(value.value, Hashable)


T = TypeVar("T")


def once_for_each_fact(question: Callable[[Hashable], T]) -> Callable[[Hashable], T]:
    """Answer a ``question`` about a fact once. The answer may depend on the fact alone."""
    answers: dict[int, tuple[Hashable, T]] = {}  # the fact beside it, so that nothing else gets its identity

    @wraps(question)
    def answer(fact: Hashable) -> T:
        known = answers.get(id(fact))
        if known is None:
            if len(answers) >= BOUNDS.facts:
                answers.clear()
            known = answers[id(fact)] = fact, question(fact)
        return known[1]

    return answer


def options_among(condition: Iterable[Hashable]) -> set[Hashable]:
    """The facts of a path condition that are about an option of the command line, which programs ask again."""
    return {fact for fact in condition if _concerns_option(fact)}


@once_for_each_fact
def _concerns_option(fact: Hashable) -> bool:
    return any(isinstance(part, Option) for part in _parts(fact))


def _parts(fact: Hashable) -> Iterable[Hashable]:
    yield fact
    if isinstance(fact, tuple):
        for part in fact:
            yield from _parts(part)
