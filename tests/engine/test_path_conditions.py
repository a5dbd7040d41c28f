"""What a path has assumed of one condition decides later ones, as long as Python would."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.domain.paths import Path

from tapelint.analysis import analyse, made
from tapelint.autograd import Facts
from tapelint.domain.values import Const, HeapRef, Sequence, Unknown
from tapelint.engine.machine import EvalMemo
from tapelint.engine.paths.conditions import assume, decide, forget, remembered
from tapelint.source import parse

MACHINE = made(parse(""), Facts())
VALUES = {
    "n": st.integers(-1, 4),
    "m": st.integers(-1, 4),
    "a": st.booleans(),
    "mode": st.sampled_from(["train", "test", "trace", ""]),
    "v": st.sampled_from([None, "", "x"]),
}
CONDITIONS = [
    *("n < 2", "n >= 2", "n == 2", "2 != n", "0 <= n < 3", "n < m", "m <= n", "n != m", "n", "n + m > 2"),
    *("n % 2 == 0", "n % 2 == 1", "abs(n) > 1", "n in (1, 2)", "n not in (1, 2)"),
    *("a", "not a", "a and n > 0", "a or n > 0", "not (a and n > 0)", "bool(a)"),
    *("mode == 'train'", "mode != 'train'", "mode.startswith('tr')", "'a' in mode", "mode in ('train', 'test')"),
    *("v is None", "v is not None", "v", "v == 'x'", "v is None or mode == 'test'"),
]


def unknown(names: str = "n m a mode v") -> Path:
    """A path on which nothing is known of some names."""
    return Path().bind(**{name: Unknown(name, False) for name in names.split()})


def decided(path: Path, condition: str, taken: bool = True) -> bool | None:
    """The truth of a condition; where it is unknown, the path continues as if it was ``taken``."""
    node = ast.parse(condition, mode="eval").body
    MACHINE.memo = EvalMemo({})
    known, key, negated = decide(MACHINE, node, path.state, MACHINE.eval(node, path.state))
    if known is None:
        assume(path.state, key, taken is not negated)
    return known


@given(st.lists(st.sampled_from(CONDITIONS), max_size=8), st.fixed_dictionaries(VALUES))
def test_decided_conditions_agree_with_python(conditions: list[str], values: dict[str, object]) -> None:
    path = unknown()
    for condition in conditions:
        truth = bool(eval(condition, dict(values)))
        assert decided(path, condition, truth) in (None, truth), condition


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("taken", [True, False])
def test_a_condition_decides_itself_and_its_negation(condition: str, taken: bool) -> None:
    path = unknown()
    assert decided(path, condition, taken) is None
    assert decided(path, condition) is taken
    assert decided(path, f"not ({condition})") is not taken


@pytest.mark.parametrize(
    ("assumed", "taken", "asked", "truth"),
    [
        ("n < 2", True, "n >= 2", False),
        ("n < 2", True, "n < 4", True),
        ("n < 2", False, "n == 1", False),
        ("0 <= n < 3", True, "n > 4", False),
        ("n < m", True, "m > n", True),
        ("n % 2 == 0", False, "n % 2 == 1", True),
        ("a and n > 0", True, "a", True),
        ("a or n > 0", False, "not a", True),
        ("mode == 'train'", True, "mode == 'test'", False),
        ("mode == 'train'", True, "mode.startswith('tr')", True),
        ("v is None", True, "v is not None", False),
        ("n == 2", True, "2 != n", False),
        ("n in (1, 2)", False, "n not in (1, 2)", True),
        ("v is None", True, "v == 'x'", False),
        ("v", True, "v is None", False),
        ("n < 2", True, "m < 2", None),
        ("n < 2", True, "n < 1", None),
        ("a or n > 0", True, "a", None),
    ],
)
def test_one_condition_decides_another(assumed: str, taken: bool, asked: str, truth: bool | None) -> None:
    path = unknown()
    assert decided(path, assumed, taken) is None
    assert decided(path, asked) is truth


def test_a_name_that_is_bound_again_is_another_value() -> None:
    path = unknown("n")
    assert decided(path, "n < 2") is None
    path.bind(n=Unknown("n", False))
    assert decided(path, "n < 2") is None


def test_two_names_of_one_value_have_one_truth() -> None:
    path = unknown("n")
    path.bind(k=path["n"])
    assert decided(path, "n < 2") is None
    assert decided(path, "k >= 2") is False


def test_a_variable_that_holds_a_condition_is_that_condition() -> None:
    """``use = mode == "train"``"""
    path = unknown()
    node = ast.parse("mode == 'train'", mode="eval").body
    MACHINE.memo = EvalMemo({})
    path.bind(use=remembered(MACHINE, node, path.state, MACHINE.eval(node, path.state)))
    assert decided(path, "use") is None
    assert decided(path, "mode == 'test'") is False


def test_known_values_need_no_assumption() -> None:
    path = Path().bind(k=Const(3))
    assert decided(path, "k") is True and not path.state.path_condition


def test_forks_assume_on_their_own() -> None:
    path = unknown("n")
    fork = path.fork()
    assert decided(path, "n < 2", True) is None and decided(fork, "n < 2", False) is None
    assert decided(path, "n == 3") is False and decided(fork, "n == 1") is False


@pytest.mark.parametrize(
    ("method", "remembers_size", "remembers_truth"),
    [("append", False, False), ("keys", False, True), ("get", True, True)],
)
def test_methods_make_what_was_assumed_of_a_container_stale(
    method: str, remembers_size: bool, remembers_truth: bool
) -> None:
    path = unknown("items n")
    for condition in ("items", "len(items) > 2", "n in items", "n > 2"):
        assert decided(path, condition) is None
    forget(path.state, path["items"], method)
    left = path.fork(), path.fork(), path.fork()
    assert (decided(left[0], "len(items) > 2") is True) is remembers_size
    assert (decided(left[1], "n in items") is True) is remembers_size
    assert (path["items"] in path.state.path_condition) is remembers_truth
    assert decided(left[2], "n > 2") is True


def test_members_of_a_list_are_compared_where_all_are_known() -> None:
    path = unknown("n")
    few = path.list(Const(1), Const(2))
    assert isinstance(few, HeapRef)
    path.bind(few=few)
    assert decided(path, "n in few") is None
    assert decided(path, "n == 3") is False
    partial = unknown("n")
    partial.bind(few=partial.list(Const(1), Const(2)))
    few = partial["few"]
    assert isinstance(few, HeapRef)
    partial.state.edit(few.id, Sequence).is_partial = True
    assert decided(partial, "n in few") is None
    assert decided(partial, "n == 3") is None


PICKS = """\
loader = load()
import torch
from torch import nn
model = nn.Linear(3, 5)
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(30):
    epoch_losses = [0, 0, 0, 0, 0]
    for i, x in enumerate(loader):
        optimizer.zero_grad()
        out = model(x)
        losses = [0, 0, 0, 0, 0]
        for j in range(10):
            losses[0] += out[j].sum()
            if out.shape[0] > 0:
                losses[0] += out.mean()
            losses[1] += out.sum()
            losses[2] += out.sum()
            losses[3] += out.sum()
        losses[4] = out.exp().sum()
        loss = 0
        for li in range(len(losses)):
            loss += losses[li]
            epoch_losses[li] += losses[li]
        loss.backward()
        optimizer.step()
    epoch_loss = 0
    for li in range(len(epoch_losses)):
        epoch_loss += epoch_losses[li]
"""


def test_what_was_picked_of_other_things_decides_no_pick():
    assert analyse(PICKS).stats["faults"] == 0
