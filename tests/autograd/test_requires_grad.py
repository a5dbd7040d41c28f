"""Whoever sets ``requires_grad`` of a leaf says so, with what it was: one event for each change, where it is made."""

from __future__ import annotations

import pytest

from tapelint import analysis
from tapelint.autograd import Facts
from tapelint.autograd.events.graph_walks import Event
from tapelint.autograd.events.training_step import RequiresGradSet
from tapelint.source import parse


def changes(program: str) -> list[tuple[int, bool | None, bool | None]]:
    """The row of each change, what the flag was and what it is."""
    facts = Facts()
    found: list[tuple[int, bool | None, bool | None]] = []

    def hear(event: Event) -> None:
        if isinstance(event, RequiresGradSet):
            found.append((getattr(event.point.node, "lineno", 0), event.before, event.wanted))

    facts.events.subscribe(hear)
    analysis.run(parse(f"import torch\nfrom torch import nn\n{program}", "program.py"), facts)
    return found


@pytest.mark.parametrize(
    "statement",
    ["w.requires_grad_(False)", "w.requires_grad = False", "for p in [w]: p.requires_grad = False"],
)
def test_each_way_to_freeze_a_leaf_is_told(statement: str) -> None:
    assert changes(f"w = torch.ones(3, requires_grad=True)\n{statement}") == [(4, True, False)]


def test_each_parameter_of_a_network_is_told() -> None:
    assert changes("net = nn.Linear(2, 1)\nnet.requires_grad_(False)") == [(4, True, False), (4, True, False)]


def test_what_it_is_set_to_may_not_be_known() -> None:
    assert (4, True, None) in changes("w = torch.ones(3, requires_grad=True)\nw.requires_grad_(bool(input()))")


@pytest.mark.parametrize(
    "statement", ["w.requires_grad_(True)", "y = w.exp()", "y = w.detach()", "y = w * 2; y.add_(w)"]
)
def test_what_leaves_the_flag_of_leaves_as_it_is_says_nothing(statement: str) -> None:
    assert changes(f"w = torch.ones(3, requires_grad=True)\n{statement}") == []
