"""Constants that depend on the number of an iteration, and whether code has asked for them."""

from __future__ import annotations

import operator

from hypothesis import given
from hypothesis import strategies as st

from tapelint.bounds import BOUNDS
from tapelint.domain.induction import (
    InductionValue,
    Observations,
    derived,
    is_plain,
    raw_value,
)
from tapelint.domain.values import NONE, Const, Origin, TensorRef, Tuple, Unknown

OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul}
TERMS = st.recursive(
    st.booleans() | st.integers(-3, 3),
    lambda inner: st.tuples(st.sampled_from(sorted(OPERATORS)), inner, inner),
    max_leaves=4,
)


def computed(term: object, counted: bool) -> Const:
    """A term of numbers, whose leaves are induction values if ``counted``."""
    if isinstance(term, tuple):
        name, left, right = term
        return derived(OPERATORS[name], computed(left, counted), computed(right, counted))
    return value(term) if counted else Const(term)


def value(number: object, *, grows: bool = False, begun: bool = False) -> InductionValue:
    """An induction value that no other code has observed."""
    return InductionValue(number, Observations(set()), grows=grows, begun=begun)


def test_asking_for_the_value_is_an_observation() -> None:
    epoch = value(2)
    assert not epoch.is_observed
    assert raw_value(epoch) == 2 and epoch == Const(2) and hash(epoch) == hash((2,))
    assert not epoch.is_observed
    assert epoch.value == 2
    assert epoch.is_observed


def test_what_was_made_of_a_value_observes_it() -> None:
    observations = Observations(set())
    epoch, step = InductionValue(2, observations), InductionValue(5, observations)
    total = derived(operator.add, derived(operator.mul, epoch, Const(10)), step)
    assert not epoch.is_observed and not step.is_observed and not total.is_observed
    assert total.value == 25
    assert epoch.is_observed and step.is_observed


def test_observing_a_source_is_seen_by_what_was_made_of_it() -> None:
    observations = Observations(set())
    epoch, step = InductionValue(2, observations), InductionValue(5, observations)
    double, other = derived(operator.neg, epoch), derived(operator.neg, step)
    assert epoch.value == 2
    assert double.is_observed and not other.is_observed


@given(TERMS)
def test_derived_values_are_those_that_python_computes(term: object) -> None:
    assert raw_value(computed(term, True)) == computed(term, False).value


def test_a_value_of_too_many_sources_observes_them() -> None:
    observations = Observations(set())
    values = [InductionValue(number, observations) for number in range(BOUNDS.induction_sources)]
    few = derived(lambda *given: sum(given), *values[1:])
    assert isinstance(few, InductionValue) and not values[1].is_observed
    many = derived(lambda *given: sum(given), *values)
    assert type(many) is Const and many == Const(sum(range(BOUNDS.induction_sources)))
    assert all(each.is_observed for each in values)


def test_derived_of_plain_constants_is_plain() -> None:
    assert type(derived(operator.add, Const(1), Const(2))) is Const


def test_growth_is_inherited() -> None:
    counter, begun = value(1, grows=True), value(1, begun=True)
    assert derived(operator.neg, counter).grows and not derived(operator.neg, begun).grows
    assert derived(operator.neg, begun).begun and not derived(operator.neg, counter).begun


def test_collected_observations_count_only_if_they_are_added() -> None:
    observations = Observations(set())
    epoch = InductionValue(2, observations)
    with observations.collected() as found:
        assert epoch.value == 2
    assert found and not epoch.is_observed
    observations.add(*found)
    assert epoch.is_observed


def test_containers_are_observed_by_their_id() -> None:
    observations = Observations(set())
    with observations.collected() as found:
        observations.add(7)
    assert found == {7} and not observations.has(7)


def test_plain_values() -> None:
    assert is_plain(Const("a")) and is_plain(NONE) and is_plain(Tuple((Const(1), value(2))))
    assert is_plain(Unknown(origin=Origin.NUMBER)) and not is_plain(Unknown(origin=Origin.BATCH))
    assert not is_plain(TensorRef(1)) and not is_plain(Tuple((Const(1), TensorRef(1))))
