"""Cures of what stands in an imported file: that file is edited, never the same rows of the file that is checked."""

from __future__ import annotations

import pytest

from tapelint.analysis import Report, analyse, fixes

HELPERS = {
    "writes in place": """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.state = torch.zeros(4)

    def forward(self, x):
        y = torch.exp(self.layer(x))
        y += 1
        return y
""",
    "keeps its state": """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.state = torch.zeros(4)

    def forward(self, x):
        self.state = torch.tanh(self.layer(x) + self.state)
        return self.state
""",
    "detaches": """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        y = torch.exp(self.layer(x))
        return y.detach()
""",
}
MAIN = """import torch
from net import Net

net = Net()


def train(opt):
    for x in torch.randn(3, 4):
        opt.zero_grad()
        net(x).sum().backward()
        opt.step()


def main():
    train(torch.optim.SGD(net.parameters(), lr=0.1))


main()
"""


GAN = """import torch


def train(net):
    fake = net(torch.ones(4))
    fake.sum().backward()
    again(fake)


def again(fake):
    torch.tanh(fake).sum().backward()
"""
LAUNCHED = """from torch import nn
from net import train


def launch(entry, net):
    entry(net)


net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
launch(train, net)
"""


def checked(main: str, net: str) -> Report:
    return analyse(main, "main.py", resolve=lambda name, importer: ("net.py", net) if name == "net" else None)


@pytest.mark.parametrize("name", HELPERS)
def test_cures_edit_no_file_by_the_places_of_another(name: str) -> None:
    """Whatever a finding proposes for nodes of net.py, the same rows of main.py stay."""
    report = checked(MAIN, HELPERS[name])
    assert report.diagnostics
    for diagnostic in report.diagnostics:
        assert not fixes(report, diagnostic)


def test_cures_keep_the_backward_of_the_other_file() -> None:
    """Where ``net.detach()`` was handed to it, train() would walk no graph: then there is nothing to find either."""
    report = checked(LAUNCHED, GAN)
    (diagnostic,) = report.diagnostics
    assert diagnostic.code == "TL101"
    assert not [fix for fix in fixes(report, diagnostic) if "net.detach()" in str(fix.edits)]
