"""Programs that tests of several parts are about."""

from __future__ import annotations

# The second backward needs the graph that the first one has freed.
TWICE = """\
import torch

w = torch.ones(3, requires_grad=True)
loss = (w * w).sum()
loss.backward()
loss.backward()
"""

# What backward reads of the context is to be set by forward: no edit can know the value.
UNSET = """import torch


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor


Scale.apply(torch.ones(3, requires_grad=True)).sum().backward()
"""

# A module net.py whose network keeps its state with the graph of it, and a file that trains it.
KEEPING = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 8)
        self.h = torch.zeros(2, 8)

    def forward(self, x):
        self.h = self.cell(x, self.h)
        return self.h
"""
STEPPING = """import torch
from net import Net

net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.randn(5, 2, 4):
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
"""
