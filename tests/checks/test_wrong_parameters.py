"""What has made a network, by the text of the assignment that stores it."""

from __future__ import annotations

import ast

import pytest

from tapelint.checks.wrong_parameters import _maker


@pytest.mark.parametrize(
    ("text", "maker"),
    [
        ("net = build(size)", "build"),
        ("self.net = library.Net().to(device)", "library.Net().to"),
        ("net = net.train()", None),  # the same one
        ("self.net = self.net.to(device)", None),
        ("net = other", None),
    ],
)
def test_a_method_of_what_was_there_before_makes_no_other_network(text: str, maker: str | None) -> None:
    tree = ast.parse(text)
    assert _maker(tree.body[0], tree) == maker
