"""A condition that the path condition entails is true in every run of the program that takes the path."""

from __future__ import annotations

import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapelint.domain.values import Const, External, Tuple, Unknown
from tapelint.engine.paths.entailment import entailed

NAMES = {name: Unknown(name, False) for name in ("a", "b", "n", "m")}
NUMBERS = st.integers(-2, 5)
COMPARED = {
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Eq": operator.eq,
}
VALUES = st.fixed_dictionaries(
    {"a": st.booleans(), "b": st.sampled_from([None, True, "", "x"]), "n": NUMBERS, "m": NUMBERS}
)


def remainder(divisor: int) -> tuple:
    return ("Mod", NAMES["n"], Const(divisor))


TERMS = st.one_of(st.sampled_from([NAMES["n"], NAMES["m"]]), st.sampled_from([2, 3]).map(remainder))
ATOMS = st.one_of(
    st.sampled_from(list(NAMES.values())),
    st.tuples(st.sampled_from(sorted(COMPARED)), TERMS, NUMBERS.map(Const)),
    st.tuples(st.sampled_from(sorted(COMPARED)), NUMBERS.map(Const), TERMS),
    st.tuples(st.sampled_from(sorted(COMPARED)), st.just(NAMES["n"]), st.just(NAMES["m"])),
    st.tuples(st.just("In"), TERMS, st.lists(NUMBERS.map(Const), max_size=3).map(lambda items: Tuple(tuple(items)))),
    st.tuples(
        st.just("Is"), st.sampled_from([NAMES["a"], NAMES["b"]]), st.sampled_from([None, True, False]).map(Const)
    ),
    st.tuples(st.just("Eq"), st.just(NAMES["b"]), st.sampled_from([None, "x", "y"]).map(Const)),
)
FORMULAS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(st.just("Not"), inner),
        st.tuples(st.sampled_from(["And", "Or"]), inner, inner),
    ),
    max_leaves=4,
)


def worth(formula: object, values: dict) -> object:
    """What a formula comes to, where its names have these values."""
    if isinstance(formula, Unknown):
        return values[formula.note]
    if isinstance(formula, Const):
        return formula.value
    if isinstance(formula, Tuple):
        return tuple(worth(item, values) for item in formula.items)
    assert isinstance(formula, tuple)
    name, *parts = formula
    found = [worth(part, values) for part in parts]
    if name == "Not":
        return not found[0]
    if name in ("And", "Or"):
        return (all if name == "And" else any)(bool(part) for part in found)
    if name == "Is":
        return found[0] is found[1]
    if name == "In":
        return found[0] in found[1]
    return found[0] % found[1] if name == "Mod" else COMPARED[name](*found)


@given(st.lists(FORMULAS, max_size=4), FORMULAS, VALUES)
def test_entailment_agrees_with_python(known: list, asked: object, values: dict) -> None:
    facts = {formula: bool(worth(formula, values)) for formula in known}
    assert entailed(facts, asked) in (None, bool(worth(asked, values)))


N = NAMES["n"]


@pytest.mark.parametrize(
    ("facts", "asked", "answer"),
    [
        ({("Lt", N, Const(3)): True}, ("GtE", N, Const(3)), False),
        ({("Lt", N, Const(3)): True}, ("Lt", N, Const(5)), True),
        ({("Lt", N, Const(3)): True}, ("Lt", N, Const(2)), None),
        ({("Eq", remainder(2), Const(0)): False}, ("Eq", remainder(2), Const(1)), True),
        ({("Eq", remainder(3), Const(0)): False}, ("Eq", remainder(3), Const(1)), None),
        ({("Lt", N, NAMES["m"]): True}, ("Gt", NAMES["m"], N), True),
        ({N: True}, ("Eq", N, Const(0)), False),
        ({("And", NAMES["a"], NAMES["b"]): True}, NAMES["a"], True),
        ({("Or", NAMES["a"], NAMES["b"]): True}, ("And", ("Not", NAMES["a"]), ("Not", NAMES["b"])), False),
        ({NAMES["a"]: True}, NAMES["b"], None),
    ],
)
def test_entailed_conditions(facts: dict, asked: object, answer: bool | None) -> None:
    assert entailed(facts, asked) is answer


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("second", [True, False])
def test_that_some_members_are_there_does_not_say_that_others_are(first: bool, second: bool):
    held = Unknown("held")
    has = {name: ("In", Const(name), held) for name in "abcd"}
    assert entailed({has["a"]: True, has["b"]: first, has["c"]: second}, has["d"]) is None
    kind = "isinstance", held, External("builtins.list")
    assert entailed({kind: True, has["a"]: first}, has["b"]) is None


def test_a_later_number_is_not_below_those_before_it():
    number = "AtLeast", Unknown("index"), Const(2)
    for name, below, itself, above in (
        ("Eq", False, None, None),
        ("Lt", False, False, None),
        ("LtE", False, None, None),
        ("Gt", True, None, None),
        ("GtE", True, True, None),
    ):
        assert [entailed({}, (name, number, Const(other))) for other in (1, 2, 3)] == [below, itself, above]
