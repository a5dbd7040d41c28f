"""The traits of ops: each is about ops that there are, and is one that the engine knows."""

from typing import get_args

import pytest

from tapelint.ops import layer_names, names
from tapelint.ops.traits import Trait, traits_by_op, traits_of

KNOWN = names() | {name.lower() for name in layer_names()}


def test_traits_are_of_ops_in_the_table():
    assert traits_by_op().keys() <= KNOWN


def test_the_table_has_every_trait_and_no_other():
    assert frozenset.union(*traits_by_op().values()) == frozenset(get_args(Trait))


@pytest.mark.parametrize(
    ("op", "trait", "has"),
    [
        ("nn.functional.dropout", "random", True),
        ("relu", "random", False),
        ("argmax", "makes-int", True),
        ("masked_fill_", "settles", True),
        ("add_", "settles", False),
    ],
)
def test_an_op_has_the_traits_of_its_line(op: str, trait: Trait, has: bool):
    assert (trait in traits_of(op)) is has
