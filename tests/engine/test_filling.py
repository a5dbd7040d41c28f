"""A function that ``net.apply`` is given, and that only fills parameters, is executed for two modules of each class."""

from __future__ import annotations

from tapelint.analysis import analyse

NET = """\
import math
import torch
from torch import nn
from torch.nn import init

def weights(kind="normal"):
    def fill(m):
        name = m.__class__.__name__
        if name.find("Linear") == 0 and hasattr(m, "weight"):
            if kind == "normal":
                init.normal_(m.weight.data, 0.0, 0.02)
            elif kind == "xavier":
                init.xavier_normal_(m.weight.data, gain=math.sqrt(2))
            if m.bias is not None:
                BODY
    return fill

net = nn.Sequential(LAYERS)
"""
ZERO = "init.constant_(m.bias.data, 0.0)"


def program(body: str, count: int, then: str = "net.apply(weights())") -> str:
    return NET.replace("BODY", body).replace("LAYERS", ", ".join(["nn.Linear(3, 3)"] * count)) + then + "\n"


def extra(body: str, then: str = "net.apply(weights())") -> int:
    """The steps that the call takes with ten layers more."""
    few, many = (analyse(program(body, count, then)).stats["steps"] for count in (10, 20))
    without = [analyse(program(body, count, "")).stats["steps"] for count in (10, 20)]
    return (many - without[1]) - (few - without[0])


def test_more_layers_take_no_more_steps():
    assert extra(ZERO) == 0
    assert extra("m.bias.requires_grad_(False)") > 0
    assert extra("NAMES.append(name)") > 0


def test_what_it_does_to_each_is_seen():
    frozen = program("m.weight.requires_grad = m.bias.requires_grad = False", 6)
    found = analyse(frozen + "net(torch.ones(1, 3)).sum().backward()\n").diagnostics
    assert [each.code for each in found] == ["TL301"]


def test_what_it_fills_is_written():
    then = "y = net(torch.ones(1, 3)).sum()\nnet.apply(weights())\ny.backward()"
    assert "TL201" in [each.code for each in analyse(program("init.zeros_(m.bias)", 6, then)).diagnostics]
