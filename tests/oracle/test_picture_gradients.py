"""What pictures say of gradients, asked of PyTorch: what each ``.grad`` is the sum of at the step of the finding, and
that what holds itself is never freed.
"""

from __future__ import annotations

import gc
import re
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from tests.picture.test_gradients import ADDED, CYCLE, EARLY, HEAD, LEAKED, LISTED, LOST, TOTAL, drawn


class Steps:
    """Watches one optimizer of a program: at each of its steps, how many backward passes the ``.grad`` is the sum of.
    None where there is no gradient.
    """

    def __init__(self) -> None:
        self.counts: list[int | None] = []
        self.passes: list[torch.Tensor] = []

    @contextmanager
    def watching(self, space: dict[str, Any]) -> Iterator[None]:
        backward, step = torch.Tensor.backward, torch.optim.SGD.step

        def walked(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> None:
            leaf = space["net"].weight
            before = torch.zeros_like(leaf) if leaf.grad is None else leaf.grad.clone()
            backward(tensor, *args, **kwargs)
            if leaf.grad is not None:
                self.passes.append((leaf.grad - before).detach())

        def stepped(optimizer: Any, *args: Any) -> Any:
            if optimizer is space["opt"]:
                self.counts.append(self._count(space["net"].weight.grad))
            return step(optimizer, *args)

        patch = pytest.MonkeyPatch()
        patch.setattr(torch.Tensor, "backward", walked)
        patch.setattr(torch.optim.SGD, "step", stepped)
        try:
            yield
        finally:
            patch.undo()

    def _count(self, grad: torch.Tensor | None) -> int | None:
        if grad is None:
            return None
        latest = list(reversed(self.passes))
        for count in range(len(latest) + 1):
            if torch.allclose(sum(latest[:count], torch.zeros_like(grad)), grad):
                return count
        raise AssertionError("the gradient is the sum of no latest passes")


def counts(program: str) -> list[int | None]:
    space: dict[str, Any] = {}
    torch.manual_seed(1)
    exec(HEAD, space)
    steps = Steps()
    with steps.watching(space):
        exec(program, space)
    return steps.counts


def told(program: str, code: str) -> int | None:
    """How many passes the picture says that the ``.grad`` of the finding's step is the sum of."""
    picture = drawn(program, code)
    step = max(node.number for node in picture.nodes if node.kind == "step" and node.is_marked)
    [used] = [edge.end for edge in picture.edges if edge.begin == step]
    details = next(node.details[0] for node in picture.nodes if node.number == used)
    number = re.fullmatch(r"the sum of (\d+) backward passes", details)
    return int(number[1]) if number else 1 if details == "of one backward pass" else None


@pytest.mark.parametrize(
    ("program", "code", "index"), [(ADDED, "TL401", 1), (LOST, "TL402", 0), (EARLY, "TL403", 0), (LEAKED, "TL407", 1)]
)
def test_what_a_gradient_is_the_sum_of(program: str, code: str, index: int) -> None:
    """``index`` counts the steps of the optimizer up to that of the finding."""
    assert told(program, code) == counts(program)[index]


def test_an_early_step_is_followed_by_one_that_has_a_gradient_or_none() -> None:
    assert counts(EARLY) == [None, 1, 1]


def test_the_leaf_of_a_cycle_is_never_freed() -> None:
    """The picture says that ``z`` and its ``.grad`` hold each other; without a graph they do not."""
    assert drawn(CYCLE, "TL106")
    assert all(alive() is not None for alive in _leaves(CYCLE))
    assert all(alive() is None for alive in _leaves(CYCLE.replace("create_graph=True", "")))


def _leaves(program: str) -> list[Callable[[], object]]:
    """What the calls of ``zeros`` have made, weakly held, when the program has ended."""
    found: list[Callable[[], object]] = []
    zeros = torch.zeros

    def made(*args: Any, **kwargs: Any) -> torch.Tensor:
        tensor = zeros(*args, **kwargs)
        found.append(weakref.ref(tensor))
        return tensor

    space: dict[str, Any] = {}
    patch = pytest.MonkeyPatch()
    with patch.context() as patched:
        patched.setattr(torch, "zeros", made)
        exec(HEAD + program, space)
    space.clear()
    gc.collect()
    return found


@pytest.mark.parametrize("program", [TOTAL, LISTED])
def test_what_keeps_graphs_holds_the_graph_of_each_iteration(program: str) -> None:
    """So many ``exp`` are drawn below the holder, and reached from it in PyTorch."""
    space: dict[str, Any] = {}
    exec(HEAD + program, space)
    todo = [tensor.grad_fn for tensor in space.get("kept", [space.get("total")])]
    reached = set[Any]()
    while todo:
        node = todo.pop()
        if node not in reached:
            reached.add(node)
            todo += [below for below, _ in node.next_functions if below is not None]
    titles = [node.title for node in drawn(program, "TL105").nodes]
    assert titles.count("ExpBackward0") == sum(type(node).__name__ == "ExpBackward0" for node in reached) == 3
