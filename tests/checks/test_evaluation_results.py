"""What becomes of a network's results in a loop that evaluates: nothing can walk their graphs, or something may."""

from __future__ import annotations

import pytest

from tapelint.analysis import analyse

LOOP = """
import torch
from torch.autograd import Variable

FOUND = []

def run(net, loader, criterion, metric, attack, outs):
    net.eval()
    total, found = 0.0, {{}}
    for x, y in loader:
        {body}
    {after}
"""


def is_for_nothing(body: str, after: str = "return total") -> bool:
    report = analyse(LOOP.format(body=body, after=after))
    return any(diagnostic.code == "TL406" for diagnostic in report.diagnostics)


@pytest.mark.parametrize(
    "body",
    [
        "total += net(x).item()",
        "total += criterion(net(x), y).item()",
        "out = net(x); total += (out.argmax(1) == y).sum()",
        "_, best = torch.max(net(x), 1); metric.update(best, y)",
        "out = net(x); found[y] = out.detach().cpu().numpy()",
        "metric.reset(net); metric.update(net(x), y)",
        "x = Variable(x, requires_grad=False); total += criterion(net(x), y).item()",
    ],
)
def test_measured(body: str) -> None:
    assert is_for_nothing(body)


@pytest.mark.parametrize(
    "body",
    [
        "outs.append(net(x))",
        "total += net(x).sum()",
        "metric.last = net(x)",
        "return net(x)",
        "yield net(x)",
        "x = attack(net, x); total += net(x).item()",
        "criterion(net(x), y).backward()",
        "x.requires_grad_(); total += net(x).item()",
        "x = Variable(x, requires_grad=True); total += criterion(net(x), y).item()",
        "g = torch.autograd.grad(net(x).sum(), x); total += g[0].item()",
        "outs[x] = net(x)",
        "FOUND.append(net(x))",
        "outs.setdefault(x, net(x))",
        "metric.step(criterion(net(x), y))",
    ],
)
def test_kept_or_differentiated(body: str) -> None:
    assert not is_for_nothing(body)


LEAVES_OUT = "out = net(x); total += criterion(out, y).item()"


def test_what_nothing_below_the_loop_reads_is_let_go() -> None:
    assert is_for_nothing(LEAVES_OUT)


@pytest.mark.parametrize(
    "after", ["return out", "metric.last = out", "total += out.mean(); return total", "out.mean().backward()"]
)
def test_used_below_the_loop(after: str) -> None:
    assert not is_for_nothing(LEAVES_OUT, after)
