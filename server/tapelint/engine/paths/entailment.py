"""What the tests assumed on a path say of another one.

    if mode == "train": ...      # assumed true: then
    if mode == "test": ...       # this is false,
    if i % 2 == 0: ...           # assumed false: then
    if i % 2 == 1: ...           # this is true, whatever i is
    if a and not b: ...          # assumed true: then
    if a or c: ...               # this is, too

A formula is a tuple of its operator and its parts: unknown values, constants, formulas. A test is decided if only
one of its truths goes with those assumed before. Where a value is compared with constants alone, that is tried out on
examples: the constants themselves, numbers between and beyond them, and what else is true or false.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from ...bounds import BOUNDS
from ...domain.induction import raw_value
from ...domain.options import once_for_each_fact
from ...domain.values import Const, External, Tuple
from .witnesses import kinds, witnesses

KnownTruths = Mapping[Hashable, bool]
Check = tuple[Hashable, str, Hashable]
"""Of a value, or a pair of values: its operator and what it is compared with."""
Groups = dict[Hashable, dict[Check, bool]]
"""The truths of checks by the value, or the pair of values, that they are of."""

ORDERS = {"Lt": {-1}, "LtE": {-1, 0}, "Gt": {1}, "GtE": {0, 1}, "Eq": {0}}
"""For each comparison the signs of ``left - right`` for which it is true."""
FLIPPED = {"Lt": "Gt", "LtE": "GtE", "Gt": "Lt", "GtE": "LtE", "Eq": "Eq", "Is": "Is"}
CHECKS: dict[str, Callable[[Any, Any], bool]] = {
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Eq": operator.eq,
    "Is": lambda value, other: value is other or isinstance(other, External) and value == other,
    "In": lambda value, members: value in members,
    "Has": lambda value, member: member in value,
    "startswith": lambda value, begin: value.startswith(begin),
    "endswith": lambda value, end: value.endswith(end),
    "isinstance": isinstance,
    "True": lambda value, _: bool(value),
}


def entailed(facts: KnownTruths, formula: Hashable) -> bool | None:
    """The truth of ``formula`` on a path on which ``facts`` are assumed; None where both are possible."""
    if formula in facts:
        return facts[formula]
    known = _of_numbers(facts, formula)
    if known is not None:
        return known
    mine = values_in(formula)
    near = _near(facts, mine) if mine else {}
    alone = not near and not (isinstance(formula, tuple) and formula and formula[0] in ("And", "Or"))
    if alone or len(near) > BOUNDS.assumptions:
        return None
    possible = [taken for taken in (True, False) if _consistent(near, formula, taken)]
    return possible[0] if len(possible) == 1 else None


def _of_numbers(facts: KnownTruths, formula: Hashable) -> bool | None:
    """The truth of a comparison of numbers, some of which count iterations; None where that is not known."""
    known = _of_one_number(formula)
    if known is None:
        known = _of_later_number(formula)
    if known is None:
        known = next((not taken for taken in (True, False) if _was_met(facts, formula, taken)), None)
    return _of_divisor(facts, formula) if known is None else known


def _near(facts: KnownTruths, values: frozenset[Hashable]) -> dict[Hashable, bool]:
    """The facts that are about any of some values."""
    near: dict[Hashable, bool] = {}
    for fact, taken in facts.items():
        if not values.isdisjoint(values_of_fact(fact)):
            near[fact] = taken
    return near


@once_for_each_fact
def values_of_fact(fact: Hashable) -> frozenset[Hashable]:
    """``values_in`` of a formula that many paths assume."""
    return values_in(fact)


def _of_one_number(formula: Hashable) -> bool | None:
    """The truth of a comparison of a number with itself and a difference: ``n - 1 < n``. None for any other formula."""
    if not isinstance(formula, tuple) or len(formula) != 3 or formula[0] not in ORDERS:
        return None
    (left, more), (right, other) = _shifted(formula[1]), _shifted(formula[2])
    if left != right or formula[1] is left and formula[2] is right:
        return None
    return bool(CHECKS[formula[0]](more, other))


def _of_later_number(formula: Hashable) -> bool | None:
    """The truth of a comparison of a number that is not below another one with what is: ``i > 0`` in the iteration that
    stands for all after the second. None for any other formula.
    """
    match formula:
        case (str(name), ("AtLeast", _, Const(int(least))), Const(int(number) | float(number))) if name in ORDERS:
            if number < least:
                return name in ("Gt", "GtE")
            return {"GtE": True, "Lt": False}.get(name) if number == least else None
    return None


def _was_met(facts: KnownTruths, formula: Hashable, taken: bool) -> bool:
    """Whether a test has this truth where a counter meets a number, as it did when the counter was less: ``i == last``
    holds in one iteration, ``i % n == 0`` not in the next, for nobody writes that for an ``n`` of 1.
    """
    met = _meeting(formula, taken)
    if met is None:
        return False
    others, least = met
    found = (_meeting(fact, truth) for fact, truth in facts.items())
    earlier = [numbers for each, numbers in filter(None, found) if each == others]
    before = tuple(number - 1 for number in least)
    return before in earlier or _is_met_once(others) and any(numbers[0] < least[0] for numbers in earlier)


def _of_divisor(facts: KnownTruths, formula: Hashable) -> bool | None:
    """The truth of ``7 % n == 1``, where others of an ``n`` that is not known leave only one. None for any other
    formula.
    """
    mine = _remainder(formula)
    if mine is None:
        return None
    divisor, number, rest = mine
    known = [*_remainders(facts, divisor)]
    least = 0 if number is None else number
    possible = range(1, max([least, *(one for one, _, _ in known)]) + 2)
    left = [n for n in possible if all((one % n == other) is taken for one, other, taken in known)]
    truths = {None if number is None and n > 1 else least % n == rest for n in left}
    return truths.pop() if known and len(truths) == 1 else None


def _remainders(facts: KnownTruths, divisor: Hashable) -> Iterator[tuple[int, int, bool]]:
    """The numbers that are known of which a path has asked what they leave, that, and whether they do."""
    for fact, taken in facts.items():
        asked = _remainder(fact)
        if asked is not None and asked[0] == divisor and asked[1] is not None:
            yield asked[1], asked[2], taken


def _remainder(formula: Hashable) -> tuple[Hashable, int | None, int] | None:
    """The divisor that is not known, the number that it divides, if that is, and what a formula says that this
    leaves.
    """
    match formula:
        case ("Eq", ("Mod", number, divisor), Const() as rest) if not isinstance(divisor, Const):
            least = _least(number)
            if least is not None and least >= 0 and type(raw_value(rest)) is int:
                return divisor, least if isinstance(number, Const) else None, rest.value
    return None


def meets_number(facts: KnownTruths) -> bool:
    """Whether the last test of a path was whether a counter meets a number, and it does."""
    newest = next(reversed(facts.items()), None) if isinstance(facts, dict) else None
    return newest is not None and _meeting(*newest) is not None


def _is_met_once(others: tuple[Hashable, ...]) -> bool:
    """Whether what a counter is compared with is one number."""
    return len(others) == 1 and not (isinstance(others[0], tuple) and others[0][:1] == ("Mod",))


def _meeting(formula: Hashable, taken: bool) -> tuple[tuple[Hashable, ...], tuple[int, ...]] | None:
    """The numbers that counters are compared with, one of which is met where a formula has this truth, and the least
    that each counter is.
    """
    match formula:
        case ("Not", inner):
            return _meeting(inner, not taken)
        case tuple() if formula and formula[0] == ("Or" if taken else "And"):
            found = [each for part in formula[1:] if (each := _meeting(part, taken)) is not None]
            if len(found) == len(formula) - 1:
                return tuple(other for each, _ in found for other in each), tuple(n for _, each in found for n in each)
        case ("Eq", ("Mod", number, divisor), Const() as rest) if taken:
            return _compared(number, ("Mod", divisor, rest))
        case ("Eq", left, right) if taken:
            return _compared(left, right) or _compared(right, left)
    return None


def _compared(counter: Hashable, other: Hashable) -> tuple[tuple[Hashable, ...], tuple[int, ...]] | None:
    least = _least(counter)
    return None if least is None else ((other,), (least,))


def _least(formula: Hashable) -> int | None:
    """A number that is known, or what one of a later iteration is at least."""
    inner, more = _shifted(formula)
    match inner:
        case ("AtLeast", _, Const() as least) | (Const() as least) if type(raw_value(least)) is int:
            return int(least.value) + more
    return None


def _shifted(formula: Hashable) -> tuple[Hashable, int]:
    """A number without what is added to it, and that."""
    match formula:
        case ("Add" | "Sub" as name, number, Const() as const) if type(raw_value(const)) is int:
            inner, more = _shifted(number)
            return inner, more + (const.value if name == "Add" else -const.value)
    return formula, 0


@lru_cache(BOUNDS.kept_answers)
def values_in(formula: Hashable) -> frozenset[Hashable]:
    """The unknown values that a formula is made of."""
    if not isinstance(formula, tuple):
        return frozenset() if isinstance(formula, (Const, Tuple)) else frozenset((formula,))
    if not formula or not isinstance(formula[0], str):
        return frozenset((formula,))  # what is in a tensor
    return frozenset().union(*map(values_in, formula[1:2] if formula[0] == "isinstance" else formula[1:]))


def _consistent(facts: KnownTruths, formula: Hashable, taken: bool) -> bool:
    atoms: dict[Hashable, bool] = {}
    compounds: list[tuple[tuple[Hashable, ...], bool]] = []
    for known, truth in (*facts.items(), (formula, taken)):
        for part, holds in _parts(known, truth):
            if isinstance(part, Const):
                if bool(raw_value(part)) is not holds:
                    return False
            elif isinstance(part, tuple) and part and part[0] in ("And", "Or"):
                compounds.append((part, holds))
            elif atoms.setdefault(part, holds) is not holds:
                return False
    groups = _groups(atoms)
    if groups is None or not all(map(_is_satisfiable, groups.values())):
        return False
    return all(_truth(part, atoms, groups) in (None, holds) for part, holds in compounds)


def _parts(formula: Hashable, truth: bool) -> Iterator[tuple[Hashable, bool]]:
    """What has to be true and false if ``formula`` has this ``truth``."""
    if isinstance(formula, tuple) and formula:
        if formula[0] == "Not":
            yield from _parts(formula[1], not truth)
            return
        if formula[0] == ("And" if truth else "Or"):
            for part in formula[1:]:
                yield from _parts(part, truth)
            return
        if formula[0] == "isinstance" and truth:
            yield ("Is", formula[1], Const(None)), False
    yield formula, truth


def _truth(formula: Hashable, atoms: KnownTruths, groups: Groups) -> bool | None:
    if isinstance(formula, Const):
        return bool(raw_value(formula))
    if formula in atoms:
        return atoms[formula]
    if isinstance(formula, tuple) and formula:
        if formula[0] == "Not":
            inner = _truth(formula[1], atoms, groups)
            return None if inner is None else not inner
        if formula[0] in ("And", "Or"):
            stop = formula[0] == "Or"
            found = [_truth(part, atoms, groups) for part in formula[1:]]
            return stop if stop in found else None if None in found else not stop
    subject, check = _atom(formula, _sized(groups))
    known = groups.get(subject, {})
    possible = [taken for taken in (True, False) if _is_satisfiable({**known, check: taken})]
    return possible[0] if len(possible) == 1 else None


def _groups(atoms: KnownTruths) -> Groups | None:
    """What is assumed of each value, or of each pair of values; None where that is a contradiction in terms."""
    found: Groups = {}
    sized = _sized(part for atom in atoms for part in (_atom(atom)[0],))
    for atom, truth in atoms.items():
        subject, check = _atom(atom, sized)
        if found.setdefault(subject, {}).setdefault(check, truth) is not truth:
            return None
    return found


def _sized(subjects: Iterable[Hashable]) -> frozenset[Hashable]:
    """The values whose length is among some subjects: they are true if it is not nothing."""
    return frozenset(each[1] for each in subjects if isinstance(each, tuple) and len(each) == 2 and each[0] == "len")


def _atom(formula: Hashable, sized: frozenset[Hashable] = frozenset()) -> tuple[Hashable, Check]:
    """What ``formula`` is a check of, and the check; anything that is no known check is asked for its truth."""
    if isinstance(formula, tuple) and len(formula) == 3:
        name, left, right = formula
        found = _comparison(name, left, right) if name in FLIPPED or _is_member(formula) else None
        found = found or _property(name, left, right)
        if found is not None:
            return found[0], found
    if formula in sized:
        return ("len", formula), (("len", formula), "Gt", Const(0))
    return formula, (formula, "True", None)


def _comparison(name: str, left: Hashable, right: Hashable) -> Check | None:
    """A value beside a constant, or a pair of unknown values in an order that does not depend on the formula's."""
    if isinstance(left, Const) and name in FLIPPED:
        name, left, right = FLIPPED[name], right, left
    if name in ORDERS and isinstance(right, Const) and type(raw_value(right)) is int:
        left, more = _shifted(left)
        right = Const(right.value - more) if more else right
    if isinstance(right, (Const, Tuple)) or isinstance(right, External) and _is_type(left):
        return left, "Is" if isinstance(right, External) else name, right
    if name not in ORDERS:
        return None
    pair = (left, right) if repr(left) <= repr(right) else (right, left)
    return pair, name if pair[0] is left else FLIPPED[name], None


def _property(name: Hashable, left: Hashable, right: Hashable) -> Check | None:
    """What is said of one value: that it has a member, is of a kind, begins or ends with a text."""
    if name == "In" and isinstance(left, Const):
        return right, "Has", left
    if name == "isinstance" and kinds(right) is not None:
        return left, name, right
    if (name == "startswith" or name == "endswith") and _is_constant(right):
        return left, name, right
    return None


def _is_type(formula: Hashable) -> bool:
    """Whether it is ``type(x)``."""
    return isinstance(formula, tuple) and len(formula) == 2 and formula[0] == "type"


def _is_constant(value: Hashable) -> bool:
    return isinstance(value, Const) or isinstance(value, Tuple) and all(map(_is_constant, value.items))


def _is_member(formula: Hashable) -> bool:
    return (
        isinstance(formula, tuple)
        and len(formula) == 3
        and formula[0] == "In"
        and isinstance(formula[2], Tuple)
        and _is_constant(formula[2])
    )


def _is_satisfiable(checks: Mapping[Check, bool]) -> bool:
    """Whether something passes all of them."""
    signs = {-1, 0, 1}
    simple: list[tuple[str, Any, bool]] = []
    for (_, name, right), truth in checks.items():
        if right is None and name != "True":
            signs = signs & ORDERS[name] if truth else signs - ORDERS[name]
        else:
            simple.append((name, kinds(right) if name == "isinstance" else _plain(right), truth))
    if not signs or not simple:
        return bool(signs)
    return any(_passes(example, simple) for example in witnesses(next(iter(checks))[0], simple))


def _passes(example: Any, checks: list[tuple[str, Any, bool]]) -> bool:
    try:
        for name, right, truth in checks:
            if bool(CHECKS[name](example, right)) is not truth:
                return False
    except (TypeError, AttributeError):
        return False
    return True


def _plain(value: Hashable) -> Any:
    if isinstance(value, Tuple):
        return tuple(map(_plain, value.items))
    return value.value if isinstance(value, Const) else value
