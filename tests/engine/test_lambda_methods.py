"""A lambda may stand wherever a function does: as any method that the engine looks for, by name or by its text."""

from __future__ import annotations

import pytest

from tapelint.analysis import analyse
from tapelint.report import Kind

PROGRAM = """
import torch
from torch import nn
import pytorch_lightning as pl

class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layer, self.config = nn.Linear(3, 3), config

    {method} = lambda self, x, *rest: {body}

class Runner:
    {method} = lambda self, x, *rest: {body}

    def __init__(self, model, optimizer):
        self.model, self.optimizer, self.layer = model, optimizer, model.layer

    def fit(self, x):
        loss = self.model(x).sum()
        self.{method}(loss)
        self.optimizer.step()

class Module(pl.LightningModule):
    {method} = lambda self, x, *rest: {body}

class Scale(torch.autograd.Function):
    {method} = lambda self, x, *rest: {body}

def use(net, runner, x):
    net.{method}(x)
    runner.fit(x)
    return runner.{method}(net.config, Scale.apply(x))
"""
METHODS = "forward backward step training_step reset __init__ __call__ __setattr__ __getattr__".split()
BODIES = ["x", "x.backward()", "self.layer(x)", "[self.model(y) for y in x]", "setattr(self, 'last', x)", "(yield x)"]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("method", METHODS)
def test_a_lambda_as_a_method_ends_no_entry_point(method: str, body: str) -> None:
    report = analyse(PROGRAM.format(method=method, body=body), "runner.py")
    faults = [notice.sentence for notice in report.notices if notice.kind is Kind.FAULT]
    assert not faults
    assert report.stats["entries"] > 1, "the functions are not entry points"
