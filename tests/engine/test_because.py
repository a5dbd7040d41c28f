"""A reason is a conjunction of atoms, each once, in the order in which they were met."""

from __future__ import annotations

from tapelint.because import NOTHING, all_hold, guess, option

AMP, NET = option("`--amp` is given"), guess("`net` is a network")


def test_what_is_decided_has_no_reason() -> None:
    assert not NOTHING
    assert NOTHING & AMP is AMP
    assert AMP & NOTHING is AMP


def test_reasons_are_joined_once_each() -> None:
    assert (AMP & NET) & AMP == AMP & NET
    assert all_hold([AMP, NET, AMP]) == AMP & NET
    assert (AMP & NET).words == "`--amp` is given and that `net` is a network"


def test_what_is_known_to_hold_is_left_out() -> None:
    assert (AMP & NET).without(AMP) == NET
    assert not AMP.without(AMP & NET)


def test_a_clause_that_stands_in_another_one_is_not_lost() -> None:
    """Clauses were once joined as text, where one was taken for a part of another."""
    short, long = guess("`x` requires grad"), guess("`x` requires grad and `f` is called again")
    assert len((long & short).atoms) == 2
