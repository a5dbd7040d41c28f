"""Which calls of ``backward`` count as followed, and the reasons that are given for the others."""

from __future__ import annotations

import pytest

from tapelint.analysis import analyse
from tapelint.coverage import Coverage, Following, coverage, explained

HEAD = "import torch\nfrom torch import nn\n"
TRAINED = "model = nn.Linear(2, 1)\nx = torch.randn(3, 2)\n"


def seen(text: str) -> Coverage:
    return explained(analyse(HEAD + text, "train.py", resolve=lambda *_: None))


def test_all_are_followed() -> None:
    found = seen(TRAINED + "for _ in range(3):\n    loss = model(x).sum()\n    loss.backward()\n")
    assert (found.sentence, [call.code for call in found.calls]) == ("1 of 1 backward call followed", ["loss.backward"])


def test_a_file_without_any() -> None:
    assert seen(TRAINED).sentence == ""


def test_other_ways_to_go_backward_count() -> None:
    text = TRAINED + "grads = torch.autograd.grad(model(x).sum(), list(model.parameters()))\n"
    assert seen(text).sentence == "1 of 1 backward call followed"


@pytest.mark.parametrize(
    ("text", "row", "cause"),
    [
        (  # over several statements, one of which binds its name anew
            "from diffusers import UNet\nunet = UNet()\nout = unet(torch.randn(2))\n"
            "loss = out.sample.sum()\nloss = loss * 2\nloss.backward()\n",
            4,
            "`loss` is unknown: nothing is known of `UNet`, which comes from `diffusers`",
        ),
        (  # in the expression that goes backward
            "import lib\nlib.loss().backward()\n",
            4,
            "`lib.loss()` is unknown: nothing is known of `lib.loss`, which comes from `lib`",
        ),
        (  # of a wrapper that is unknown itself
            "from lib import Engine\nx = torch.ones(2, requires_grad=True)\ne = Engine()\ne.backward(x.sum())\n",
            5,
            "nothing is known of `Engine`, which comes from `lib`",
        ),
        (
            "import torch.distributed.autograd as dist\ny = torch.ones(2)\ndist.backward(1, [y])\n",
            5,
            "nothing is known of `dist.backward`, which comes from `torch.distributed.autograd`",
        ),
    ],
)
def test_unknown_graphs(text: str, row: int, cause: str) -> None:
    (call,) = seen(text).calls
    assert call.following is Following.UNKNOWN_GRAPH and call.cause is not None
    assert call.cause.message == cause
    assert call.cause.at is not None and call.cause.at.span.row == row


@pytest.mark.parametrize(
    ("text", "cause", "row"),
    [
        (TRAINED + "if False:\n    loss = model(x)\n    loss.backward()\n", "the test in line 5 is never true", 5),
        (TRAINED + "if True:\n    pass\nelse:\n    loss.backward()\n", "the test in line 5 is always true", 5),
        (TRAINED + "for each in []:\n    each.backward()\n", "the loop in line 5 has nothing to run over", 5),
        (
            TRAINED + "def f():\n    if x.requires_grad is not None:\n        return 1\n    x.backward()\nf()\n",
            "`f` returns before it, in line 7",
            7,
        ),
        (
            TRAINED + "def f():\n    raise NotImplementedError\n    x.backward()\nf()\n",
            "line 6 raises before it",
            6,
        ),
        (
            TRAINED + "def g():\n    raise OSError\ndef f():\n    g()\n    x.backward()\nf()\n",
            "no path goes on after line 8",
            8,
        ),
        (
            TRAINED + "def f():\n    y = x.exp()\n    if not isinstance(y, torch.Tensor):\n        y.backward()\nf()\n",
            "the test in line 7 is never true",
            7,
        ),
        (
            "w = torch.ones(2, requires_grad=True)\ny = w.exp()\ny += 1\ny.sum().backward()\nw.sum().backward()\n",
            "`y.sum().backward()` (line 6) raises before it",
            6,
        ),
        (
            "import argparse\np = argparse.ArgumentParser()\nfor name in ('--a', '--b', '--c'):\n"
            "    p.add_argument(name, action='store_true')\nargs = p.parse_args()\n"
            "w = torch.ones(2, requires_grad=True)\n"
            "if args.a:\n    if args.b:\n        if args.c:\n            w.exp().sum().backward()\n",
            "the test in line 11 asks for more than two options at once",
            11,
        ),
    ],
)
def test_calls_that_are_not_reached(text: str, cause: str, row: int) -> None:
    call = seen(text).calls[-1]
    assert call.following is Following.NOT_REACHED and call.cause is not None
    assert call.cause.message == cause
    assert call.cause.at is not None and call.cause.at.span.row == row


def test_a_method_of_the_program_counts_where_it_goes_backward() -> None:
    text = (
        "class Trainer:\n    def backward(self, loss):\n        loss.backward()\n    def fit(self):\n"
        "        self.backward(torch.ones(2, requires_grad=True).sum())\nTrainer().fit()\n"
    )
    assert [(call.span.row, call.following) for call in seen(text).calls] == [(5, Following.FOLLOWED)]


def test_a_root_that_has_no_graph_is_known() -> None:
    assert seen("torch.ones(3).sum().backward()\n").sentence == "1 of 1 backward call followed"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("def f(loss):\n    loss.backward()\n", "nothing here gives `loss` a known value"),
        (
            "def f(y):\n    y.sum().backward()\n",
            "`y.sum()` is unknown: it depends on `y`, which nothing here gives a known value",
        ),
        (  # two paths, whose values were joined
            "import os\nfrom lib import one, two\ndef f(x):\n    if os.environ:\n        loss = one()\n    else:\n"
            "        loss = two()\n    loss.backward()\nf(1)\n",
            "`loss` is unknown: nothing is known of `two`, which comes from `lib`",
        ),
    ],
)
def test_what_the_unknown_root_comes_from(text: str, cause: str) -> None:
    (call,) = seen(text).calls
    assert call.following is Following.UNKNOWN_GRAPH and call.cause is not None
    assert call.cause.message == cause


def test_the_report_alone_knows_no_causes() -> None:
    text = HEAD + "import lib\nlib.loss().backward()\n" + TRAINED + "model(x).sum().backward()\n"
    found = coverage(analyse(text, "train.py", resolve=lambda *_: None))
    assert [call.following for call in found.calls] == [Following.UNKNOWN_GRAPH, Following.FOLLOWED]
    assert found.sentence == "1 of 2 backward calls followed"
