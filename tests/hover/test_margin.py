"""What is said above and behind single lines, and what is left out because it is not certain."""

from __future__ import annotations

import pytest

from tapelint.analysis import Cancelled, analyse
from tapelint.hover import Hovers, assignments, backwards, steps

HEAD = """\
import torch
from torch import nn
x = torch.ones(3, requires_grad=True)
"""
TRAINING = """\
import torch
from torch import nn
net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    loss = net(torch.randn(2, 3)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def said(text: str, about) -> list[tuple[int, str]]:
    return [(remark.span.row, remark.text) for remark in Hovers(analyse(text)).remarks(about)]


def test_a_training_loop() -> None:
    assert said(TRAINING, backwards) == [(8, "frees the graph of 4 operations, fills `.grad` of 4 leaves")]
    assert said(TRAINING, steps) == [(9, "writes 4 parameters")]
    assert said(TRAINING, assignments) == [(6, "grad_fn=MeanBackward0, version 0")]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("(x * x).sum().backward()", ["frees the graph of 2 operations, fills `.grad` of 1 leaf"]),
        ("(x * x).sum().backward(retain_graph=True)", ["keeps the graph of 2 operations, fills `.grad` of 1 leaf"]),
        ("torch.autograd.grad((x * x).sum(), x)", ["frees the graph of 2 operations"]),
        (
            "y = torch.ones(3, requires_grad=True)\nx.exp().sum().backward()\n(x * y).sum().backward()",
            [
                "frees the graph of 2 operations, fills `.grad` of 1 leaf",
                "frees the graph of 2 operations, fills `.grad` of 1 leaf, adds to `.grad` of 1 leaf",
            ],
        ),
    ],
)
def test_what_a_backward_does(body: str, words: list[str]) -> None:
    assert [text for _, text in said(HEAD + body + "\n", backwards)] == words


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("y = x.exp()\ny += 1", ["grad_fn=ExpBackward0, version 0", "grad_fn=AddBackward0, version 1"]),
        (
            "y = x * 2\nv = y.view(3)\ny += 1\nz = v",
            ["grad_fn=MulBackward0, version 0", "grad_fn=ViewBackward0, version 0"],
        ),
        ("y = torch.ones(3)", []),
        ("y = x.float()", []),
        ("y, z = x.exp(), x.sin()", []),
        ("import other\ny = other.made(x)", []),
        ("x.data = x.exp()", []),
        ("y = x.exp()\nfor i in range(3):\n    y += 1", ["grad_fn=ExpBackward0, version 0", "grad_fn=AddBackward0"]),
    ],
)
def test_what_an_assignment_binds(body: str, words: list[str]) -> None:
    found = [text for _, text in said(HEAD + body + "\n", assignments)]
    assert found[: len(words)] == words and (words or not found)


def test_what_a_call_returns_on_two_paths_is_left_out() -> None:
    text = (
        HEAD + "def f(out, mask):\n    if mask:\n        return out * 0\n    return out.detach()\ny = f(x, unknown)\n"
    )
    assert said(text, assignments) == []


@pytest.mark.parametrize(
    "body",
    [
        "y = x\nfor i in range(40):\n    y = y.sin()\ny.sum().backward()",
        "y = sum(x * i for i in range(40))\ny.sum().backward()",
    ],
)
def test_what_a_loop_builds_is_not_counted(body: str) -> None:
    assert said(HEAD + body + "\n", backwards) == []


def test_what_pytorch_calls_back_is_not_counted() -> None:
    text = HEAD + "y = torch.vmap(lambda row: row.exp().sum())(x.view(1, 3))\ny.sum().backward()\n"
    assert said(text, backwards) == said(text, assignments) == []


def test_layers_that_are_built_in_a_loop_are_not_counted() -> None:
    layers = "nn.Sequential(*[nn.Linear(3, 3) for _ in range(20)], nn.Linear(3, 1))"
    text = TRAINING.replace("nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))", layers)
    assert said(text, steps) == []


@pytest.mark.parametrize(
    "text",
    [
        TRAINING.replace("net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))", "from other import net"),
        TRAINING.replace("nn.ReLU()", "other()").replace(
            "import torch\n", "import torch\nfrom other import other\n", 1
        ),
    ],
    ids=["a network that is not known", "a layer that is not known"],
)
def test_what_is_not_known_is_not_counted(text: str) -> None:
    assert not any("operation" in words or "parameters" in words for _, words in said(text, backwards))
    assert not any("writes 4" in words for _, words in said(text, steps))


def test_what_differs_from_time_to_time_is_left_out() -> None:
    text = TRAINING.replace("    optimizer.zero_grad()\n", "")
    assert said(text, backwards) == [(7, "frees the graph of 4 operations")]


def test_a_program_without_pytorch_is_not_executed() -> None:
    assert said("x = 1\n", assignments) == []


def test_what_takes_long_can_be_given_up() -> None:
    hovers = Hovers(analyse(TRAINING))
    with pytest.raises(Cancelled):
        hovers.remarks(backwards, lambda: True)
    assert hovers.remarks(backwards)
