"""What is asked of the facts that paths assume.

    @once_for_each_fact
    def values_of_fact(fact): ...

A fact is one object on all paths that assume it, and a formula may be deep: to hash it takes as long as to look through
it. So what was found is known by the identity of the fact.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import wraps
from typing import TypeVar

from ..bounds import BOUNDS
from .options import Option

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
