"""Which branches on unknown tests a path has taken, as far as it matters that it took them.

    if args.resume: ...       # one path goes on with the choice `args.resume`, one with its negation
    if verbose: print(x)      # the two paths are joined: neither choice matters

The ``Guard`` of a path is a disjunction of conjunctions of choices. Choices that do not matter are left out
(``either``): a path that is reached whatever the tests give has the guard ``ALWAYS``.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Hashable, Iterable
from dataclasses import field
from enum import Enum

from ..frozen import frozen

MAX_CONJUNCTIONS = 16
"""Conjunctions that are kept of a guard; of more those with the fewest choices."""
MAX_SPLITS = 12
"""Choices that are tried both ways to find out whether others are needed."""


class Subject(Enum):
    """What an unknown test is about."""

    FLAG = "flag"
    DATA = "values of data"
    SIZE = "whether a container is empty"


@frozen(eq=False)
class Choice:
    """A test whose truth is unknown; the same formula is the same test."""

    formula: Hashable
    # Where it was decided first.
    test: ast.AST
    # Grows from choice to choice.
    number: int
    # Whether the formula is the negation of the test.
    negated: bool = False
    subject: Subject = Subject.FLAG
    # The unknown values that it depends on.
    about: frozenset[Hashable] = frozenset()
    # The code that is run on the side that was taken; None if that is all that follows.
    inside: tuple[ast.AST, ...] | None = ()
    # The function, or the module, that the test stands in.
    scope: ast.AST | None = None
    # Where ``test`` picks one of several things: what it is where the choice holds, and where it fails, if that leaves
    # one.
    picked: tuple[str, ...] = ()
    # That of the formula, which is deep.
    hashed: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "hashed", hash(self.formula))

    def __hash__(self) -> int:
        return self.hashed

    def __eq__(self, other: object) -> bool:
        return self is other or isinstance(other, Choice) and self.formula == other.formula

    def __repr__(self) -> str:
        return f"Choice({ast.unparse(self.test)})"


Literal = tuple[Choice, bool]
"""A choice with the truth that was chosen for its formula."""
Conjunction = frozenset[Literal]
Guard = tuple[Conjunction, ...]
ALWAYS: Guard = (frozenset(),)


def choosing(guard: Guard, choice: Choice, taken: bool) -> Guard:
    """The guard of a path after it has made a choice. Where all that is known of the way to it contradicts the choice,
    since the guard was cut, it still needs the other choices on that way.
    """
    chosen, opposite = frozenset(((choice, taken),)), frozenset(((choice, not taken),))
    possible = tuple(each | chosen for each in guard if opposite.isdisjoint(each))
    return possible or tuple(dict.fromkeys(each - opposite | chosen for each in guard))


def either(left: Guard, right: Guard) -> Guard:
    """The guard of two paths that are joined: without the choices that they made differently."""
    return left if left == right else _before_choice(left, right) or _simple((*left, *right))


def _before_choice(left: Guard, right: Guard) -> Guard | None:
    """The guard of a path that one choice made two, if ``left`` and ``right`` have chosen nothing else since."""
    shared = frozenset.intersection(*left)
    for choice, taken in shared:
        opposite = choice, not taken
        if len(left) == len(right) and opposite in right[0]:
            before = tuple(each - {(choice, taken)} for each in left)
            if {*before} == {each - {opposite} for each in right}:
                return before
    return None


def leaving_out(guard: Guard, abandoned: Iterable[Conjunction]) -> Guard:
    """A guard without the choices that only keep the path out of ``abandoned`` ones."""
    known = [*guard, *abandoned]
    return _simple(_widened(each, known) for each in guard)


def chosen_by_selection(kept: Iterable[Guard], left_out: Iterable[Guard]) -> frozenset[Literal]:
    """The literals that all paths share since those with the opposite are not followed. What data decide, or whether a
    container is empty, stays a choice: the paths that go on need not be the usual ones.
    """
    mine = {literal for guard in kept for each in guard for literal in each}
    others = {literal for guard in left_out for each in guard for literal in each}
    return frozenset(
        (choice, taken)
        for choice, taken in mine
        if choice.subject is Subject.FLAG and (choice, not taken) in others and (choice, not taken) not in mine
    )


def without(guard: Guard, literals: frozenset[Literal]) -> Guard:
    """A guard that does not need certain literals."""
    return _simple(each - literals for each in guard) if literals else guard


def on_both_sides(guard: Guard) -> frozenset[Literal]:
    """The literals of choices that are made one way in some conjunctions and the other way in others, and do not stand
    for another one: both of them in ``x and y or not x and y``, neither in ``x and y or not x and not y``.
    """
    shared: dict[Literal, Conjunction] = {}
    for each in guard:
        for literal in each:
            shared[literal] = shared.get(literal, each) & each
    return frozenset(
        (choice, taken)
        for choice, taken in shared
        if (choice, not taken) in shared and not _opposed(shared[choice, taken], shared[choice, not taken], choice)
    )


def _opposed(left: Conjunction, right: Conjunction, beside: Choice) -> bool:
    """Whether something else than ``beside`` is chosen one way on the left and the other way on the right."""
    return any(choice != beside and (choice, not taken) in right for choice, taken in left)


def ordered(each: Conjunction) -> list[Literal]:
    """The literals of a conjunction in the order in which the choices were made."""
    return sorted(each, key=lambda literal: literal[0].number)


def _simple(guard: Iterable[Conjunction]) -> Guard:
    """The same guard in fewer conjunctions of fewer choices: `a or (not a and b)` is `a or b`."""
    left: list[Conjunction] = []
    todo = deque(dict.fromkeys(guard))
    while todo:
        one = todo.popleft()
        for index, other in enumerate(left):
            if (shorter := _beside(one, other)) is not one:
                todo.extendleft(() if shorter is None else (shorter,))
                break
            if (shorter := _beside(other, one)) is not other:
                del left[index]
                todo.extend(() if shorter is None else (shorter,))
                todo.appendleft(one)
                break
        else:
            left.append(one)
    return tuple(sorted(left, key=len)[:MAX_CONJUNCTIONS])


def _beside(one: Conjunction, other: Conjunction) -> Conjunction | None:
    """What ``one`` has to need in a disjunction with ``other``; None if that is true wherever ``one`` is."""
    if len(other) > len(one):
        return one
    apart = other - one
    if not apart:
        return None
    if len(apart) == 1:
        [(choice, taken)] = apart
        if (choice, not taken) in one:
            return one - {(choice, not taken)}
    return one


def _widened(each: Conjunction, known: list[Conjunction]) -> Conjunction:
    """A conjunction without the choices whose other side is among what is ``known``."""
    for choice, taken in ordered(each):
        rest = each - {(choice, taken)}
        if _is_covered(rest | {(choice, not taken)}, known):
            each = rest
    return each


def _is_covered(region: Conjunction, known: list[Conjunction], splits: int = MAX_SPLITS) -> bool:
    """Whether all that makes the choices of ``region`` is among what is ``known``."""
    if any(each <= region for each in known):
        return True
    near = [each for each in known if not any((choice, not taken) in region for choice, taken in each)]
    if not near or not splits:
        return False
    choice, _ = next(literal for literal in ordered(min(near, key=len)) if literal not in region)
    return all(_is_covered(region | {(choice, side)}, near, splits - 1) for side in (True, False))
