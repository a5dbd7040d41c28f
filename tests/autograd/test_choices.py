"""Guards: which choices matter once paths are joined."""

from __future__ import annotations

import ast
from itertools import count, product
from random import Random

from tapelint.autograd.model.choices import (
    ALWAYS,
    UNGUARDED,
    Choice,
    Guard,
    PathGuard,
    choosing,
    chosen_by_selection,
    either,
    leaving_out,
    on_both_sides,
    selected,
    without,
)

NUMBERS = count()
ABCD = A, B, C, D = [Choice(name, ast.Name(name), next(NUMBERS)) for name in "abcd"]


def guard(*conjunctions: dict[Choice, bool]) -> Guard:
    return tuple(frozenset(each.items()) for each in conjunctions)


def test_a_choice_that_both_paths_made_differently_does_not_matter():
    assert either(choosing(ALWAYS, A, True), choosing(ALWAYS, A, False)) == ALWAYS


def test_a_choice_before_the_fork_stays():
    before = choosing(ALWAYS, A, True)
    assert either(choosing(before, B, True), choosing(before, B, False)) == before


def test_either_of_several_choices_is_enough():
    first, second = choosing(ALWAYS, A, True), choosing(choosing(ALWAYS, A, False), B, True)
    assert set(either(first, second)) == set(guard({A: True}, {B: True}))


def test_an_order_of_joins_does_not_matter():
    paths = [guard({A: True}), guard({A: False, B: True}), guard({A: False, B: False})]
    for order in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        joined = paths[order[0]]
        for index in order[1:]:
            joined = either(joined, paths[index])
        assert joined == ALWAYS


def test_what_keeps_a_path_out_of_an_abandoned_one_is_no_choice():
    assert leaving_out(guard({A: True, B: True}), guard({A: False})[0:1]) == guard({B: True})


def test_an_abandoned_part_of_the_other_side_is_not_enough():
    assert leaving_out(guard({A: True}), [*guard({A: False, B: True})]) == guard({A: True})


def test_two_abandoned_parts_are_the_whole_other_side():
    abandoned = guard({A: False, B: True}, {A: False, B: False, C: True}, {B: False, C: False})
    assert leaving_out(guard({A: True}), abandoned) == ALWAYS


def test_abandoned_paths_that_made_other_choices_say_nothing():
    assert leaving_out(guard({A: True}), [*guard({B: True}), *guard({B: False})]) == guard({A: True})


def test_a_path_cannot_choose_against_itself():
    assert choosing(guard({A: True}, {B: True}), A, False) == guard({A: False, B: True})


def test_what_only_the_selection_of_paths_decided_is_no_choice():
    kept, left_out = [guard({A: True, B: True}), guard({A: True, B: False})], [guard({A: False, B: True})]
    settled = chosen_by_selection(kept, left_out)
    assert [without(each, settled) for each in kept] == [guard({B: True}), guard({B: False})]


def test_a_choice_that_no_path_made_the_other_way_stays():
    assert not chosen_by_selection([guard({A: True})], [guard({A: True, B: False})])


def test_a_choice_that_goes_either_way_is_on_both_sides():
    either_way = guard({A: True, B: True}, {A: False, B: True, C: True})
    assert without(either_way, on_both_sides(either_way)) == guard({B: True})


def test_choices_that_go_together_are_not_on_both_sides():
    assert not on_both_sides(guard({A: True, B: True}, {A: False, B: False}))


def test_choices_that_go_together_on_some_paths_only_are_on_both_sides():
    some = guard({A: True, B: True}, {A: False, B: False}, {A: True, B: False, C: True})
    assert without(some, on_both_sides(some)) == ALWAYS


def test_a_choice_against_all_that_is_kept_of_a_guard_needs_the_other_choices():
    cut = guard({A: True, B: True}, {A: True, C: True})
    assert set(choosing(cut, A, False)) == set(guard({A: False, B: True}, {A: False, C: True}))


def test_a_join_right_after_a_choice_among_several_gives_the_guard_before_it():
    before = guard({A: True, B: True}, {A: False, C: True})
    assert either(choosing(before, D, True), choosing(before, D, False)) == before


def test_a_joined_guard_holds_where_either_did():
    random = Random(7)
    for _ in range(300):
        left, right = (
            guard(*({choice: random.random() < 0.5 for choice in random.sample(ABCD, 2)} for _ in range(3)))
            for _ in range(2)
        )
        joined = either(left, right)
        for truths in product((True, False), repeat=len(ABCD)):
            made = frozenset(zip(ABCD, truths, strict=True))
            assert any(each <= made for each in joined) == any(each <= made for each in (*left, *right))


def test_what_a_selection_has_settled_is_still_part_of_the_whole_guard():
    kept, left_out = UNGUARDED.choosing(A, True), UNGUARDED.choosing(A, False)
    [settled] = selected([kept], [left_out])
    assert settled == PathGuard(ALWAYS, guard({A: True}))
    assert settled.choosing(B, True) == PathGuard(guard({B: True}), guard({A: True, B: True}))


def test_paths_that_meet_again_need_in_whole_what_all_of_them_have_chosen():
    paths = [UNGUARDED.choosing(A, True).choosing(B, taken) for taken in (True, False)]
    first, second = selected(paths, [UNGUARDED.choosing(A, False)])
    assert first.either(second) == PathGuard(ALWAYS, guard({A: True}))
