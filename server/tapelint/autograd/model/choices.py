"""Which branches on unknown tests a path has taken, as far as it matters that it took them.

    if args.resume: ...       # one path goes on with the choice `args.resume`, one with its negation
    if verbose: print(x)      # the two paths are joined: neither choice matters

The ``Guard`` of a path is a disjunction of conjunctions of choices. Choices that do not matter are left out
(``either``): a path that is reached whatever the tests give has the guard ``ALWAYS``.

The guard of a path among the paths that are followed, and among all there are.

Where there are too many paths, some are left out (``engine.machine``). If all that go on have taken one side of a
test, what they find does not need that side as far as tapelint has looked, but nothing is known of the other one:

    if a: ...        both ways of nine such tests are 512 paths, of which 8 go on
    if b: ...
    loss.backward()  a hazard on all of the 8 is reported; only if the others have it too, or cannot be, is it an error
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Hashable, Iterable
from dataclasses import field
from enum import Enum

from ...bounds import BOUNDS
from ...frozen import frozen


class Subject(Enum):
    """What an unknown test is about."""

    FLAG = "flag"
    DATA = "values of data"
    SIZE = "whether a container is empty"
    ITEM = "which of several known items it is"
    OWN = "what the branch has stored when it was run before"


EITHER = frozenset((Subject.FLAG, Subject.ITEM))
"""What a program may take either side for, as often as the other."""


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


@frozen(eq=False)
class Region:
    """The code that only one side of a test leads to, as far as it stands in the ``scope`` of the test."""

    code: tuple[ast.AST, ...]
    scope: ast.AST


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
    if len(left) != len(right):
        return None
    others = frozenset(right)
    for literal in frozenset.intersection(*left):
        choice, taken = literal
        opposite = choice, not taken
        if opposite not in right[0]:
            continue
        first = left[0] - {literal}
        if first not in others and first | {opposite} not in others:
            continue  # what follows builds sets
        before = tuple(each - {literal} for each in left)
        if {*before} == {each - {opposite} for each in right}:
            return before
    return None


def leaving_out(guard: Guard, abandoned: Iterable[Conjunction], splits: int = BOUNDS.splits) -> Guard:
    """A guard without the choices that only keep the path out of ``abandoned`` ones, as far as so many ``splits``
    show.
    """
    objects: dict[Choice, Choice] = {}
    known = [_with_objects(each, objects) for each in (*guard, *_beside(guard, abandoned))]
    return _simple(_widened(each, known, objects, splits) for each in guard)


def _beside(guard: Guard, abandoned: Iterable[Conjunction]) -> list[Conjunction]:
    """Those of the ``abandoned`` ways that have a choice in common with a guard, or with others of them: where none is,
    as in another entry point, they say nothing of its choices.
    """
    found: list[Conjunction] = []
    made, left = {choice for each in guard for choice, _ in each}, dict.fromkeys(abandoned)
    while near := [each for each in left if any(choice in made for choice, _ in each)]:
        found += near
        for each in near:
            del left[each]
            made.update(choice for choice, _ in each)
    return found


def _with_objects(each: Conjunction, objects: dict[Choice, Choice]) -> Conjunction:
    """A conjunction with one object for equal choices: to compare two of them compares their formulas."""
    return frozenset([(objects.setdefault(choice, choice), taken) for choice, taken in each])


def chosen_by_selection(kept: Iterable[Guard], left_out: Iterable[Guard]) -> frozenset[Literal]:
    """The literals that all paths share since those with the opposite are not followed. What data decide, or whether a
    container is empty, stays a choice: the paths that go on need not be the usual ones.
    """
    mine, others = literals_of(*kept), literals_of(*left_out)
    return frozenset(
        (choice, taken)
        for choice, taken in mine
        if choice.subject is Subject.FLAG and (choice, not taken) in others and (choice, not taken) not in mine
    )


def literals_of(*guards: Guard) -> frozenset[Literal]:
    """All that is chosen anywhere in some guards."""
    return frozenset[Literal]().union(*(each for guard in guards for each in guard))


def of_one_test(guard: Guard) -> Guard:
    """A guard with one choice for all that were made by one test of different values, and came out alike: paths that
    parted before it have values of their own. A path that has made several of them keeps them apart.
    """
    alike = dict[tuple[ast.AST, Subject], dict[bool, Choice]]()
    once = [[each for each in made if _is_made_once(each[0], made)] for made in guard]
    for choice, taken in (literal for literals in once for literal in literals):
        alike.setdefault((choice.test, choice.subject), {}).setdefault(taken is not choice.negated, choice)
    found = list[Conjunction]()
    for made, literals in zip(guard, once):
        for choice, taken in literals:
            if len(known := alike[choice.test, choice.subject]) == 1:
                ((truth, other),) = known.items()
                made = made - {(choice, taken)} | {(other, truth is not other.negated)}
        found.append(made)
    return _simple(found)


def _is_made_once(choice: Choice, made: Conjunction) -> bool:
    return not choice.picked and sum(other.test is choice.test for other, _ in made) == 1


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
    """The same guard in fewer conjunctions of fewer choices: `a or (not a and b)` is `a or b`. Each is compared with
    each, so they are compared as sets of bits, without what all have: two for every choice, the higher one for that it
    holds. No conjunction has both.
    """
    todo = deque(dict.fromkeys(guard))
    if len(todo) < 2:
        return tuple(todo)
    choices: dict[Choice, int] = {}
    shared = frozenset.intersection(*todo)
    bits = deque(_bits(each - shared, choices) for each in todo)
    known = [*choices]
    left: list[Conjunction] = []
    left_bits: list[int] = []
    while todo:
        one, mine = todo.popleft(), bits.popleft()
        for index, other in enumerate(left_bits):
            unlike = mine ^ other
            if not (apart := unlike & other):
                break
            if not apart & (apart - 1) and (needless := _opposite(apart)) & mine:
                todo.appendleft(one - _literal(needless, known))
                bits.appendleft(mine ^ needless)
                break
            if not (apart := unlike & mine):
                needless = 0
            elif apart & (apart - 1) or not (needless := _opposite(apart)) & other:
                continue
            longer = left.pop(index)
            del left_bits[index]
            if needless:
                todo.append(longer - _literal(needless, known))
                bits.append(other ^ needless)
            todo.appendleft(one)
            bits.appendleft(mine)
            break
        else:
            left.append(one)
            left_bits.append(mine)
    return tuple(sorted(left, key=len)[: BOUNDS.conjunctions])


def _bits(each: Conjunction, choices: dict[Choice, int]) -> int:
    """A conjunction as a set of bits, by the numbers of its ``choices``; a new one gets the next number."""
    found = 0
    for choice, taken in each:
        found |= (2 if taken else 1) << 2 * choices.setdefault(choice, len(choices))
    return found


def _opposite(bit: int) -> int:
    """The bit for the other side of the same choice."""
    return bit >> 1 if bit.bit_length() % 2 == 0 else bit << 1


def _literal(bit: int, choices: list[Choice]) -> Conjunction:
    """The literal that a bit stands for, by itself."""
    number = bit.bit_length() - 1
    return frozenset(((choices[number // 2], bool(number % 2)),))


def _widened(each: Conjunction, known: list[Conjunction], objects: dict[Choice, Choice], splits: int) -> Conjunction:
    """A conjunction without the choices whose other side is among what is ``known``, the last first: what ended there
    has made the ones before.
    """
    for choice, taken in reversed(ordered(each)):
        rest = each - {(choice, taken)}
        region = _with_objects(rest | {(choice, not taken)}, objects)
        if _is_covered(region, _opposites(region), known, splits):
            each = rest
    return each


def _opposites(region: Conjunction) -> Conjunction:
    """The other side of each choice."""
    return frozenset([(choice, not taken) for choice, taken in region])


def _is_covered(region: Conjunction, against: Conjunction, known: list[Conjunction], splits: int) -> bool:
    """Whether all that makes the choices of ``region`` is among what is ``known``; ``against`` are its opposites."""
    if any(map(region.issuperset, known)):
        return True
    near = [*filter(against.isdisjoint, known)]
    if not near or not splits:
        return False
    choice, _ = next(literal for literal in ordered(min(near, key=len)) if literal not in region)
    return all(
        _is_covered(region | {(choice, side)}, against | {(choice, not side)}, near, splits - 1)
        for side in (True, False)
    )


@frozen
class PathGuard:
    """Which choices lead to a path."""

    # Without those that only tell it from paths that were left out.
    followed: Guard = ALWAYS
    # With them. The same object where no path was left out.
    whole: Guard = ALWAYS

    def choosing(self, choice: Choice, taken: bool) -> PathGuard:
        """The guard after the path has made a choice."""
        followed = choosing(self.followed, choice, taken)
        return PathGuard(followed, followed if self._is_one() else choosing(self.whole, choice, taken))

    def either(self, other: PathGuard) -> PathGuard:
        """The guard of two paths that are joined."""
        if self == other:
            return self
        followed = either(self.followed, other.followed)
        is_one = self._is_one() and other._is_one()
        return PathGuard(followed, followed if is_one else either(self.whole, other.whole))

    def beside(self, ended: PathGuard) -> PathGuard:
        """The guard without what only keeps the path out of one that has ``ended``. One that grows on is cut, and
        choices would stay in it that nothing balances any more.
        """
        if not 2 < len(self.followed) <= BOUNDS.weighed_guard >= len(ended.followed):
            return self
        followed = leaving_out(self.followed, ended.followed, BOUNDS.splits_at_joins)
        is_one = self._is_one()
        return PathGuard(followed, followed if is_one else leaving_out(self.whole, ended.whole, BOUNDS.splits_at_joins))

    def _is_one(self) -> bool:
        return self.whole is self.followed


UNGUARDED = PathGuard()


def selected(kept: Iterable[PathGuard], left_out: Iterable[PathGuard]) -> list[PathGuard]:
    """The guards of paths that go on where others are left out, since there are too many."""
    kept = [*kept]
    settled = chosen_by_selection((each.followed for each in kept), (each.followed for each in left_out))
    return [PathGuard(without(each.followed, settled), each.whole) for each in kept]
