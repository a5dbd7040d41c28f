"""Frameworks that run the training loop: backward on the result of a method, once per batch.

Blocks that PyTorch runs are in ``tests/mdtest/frameworks``; here are the names by which frameworks are recognised.
"""

from __future__ import annotations

import pytest

from tapelint.analysis import analyse
from tapelint.report import Diagnostic
from tapelint.severity import Severity

MODULE = """import torch
from torch import nn
{line}

class Net({base}):
    def __init__(self):
        super().__init__()
        self.cell = nn.RNNCell(3, 4)
        self.h = torch.zeros(2, 4)
        {more}

    def {method}:
        self.h = self.cell(torch.randn(2, 3), {h})
        loss = self.h.pow(2).mean()
        {walk}
        return {result}
"""
LIGHTNING = {
    "line": "import pytorch_lightning as pl",
    "base": "pl.LightningModule",
    "method": "training_step(self, batch, index)",
    "h": "self.h",
    "more": "self.lr = 1",
    "walk": "self.log('loss', loss)",
    "result": "loss",
}


def found(**parts: str) -> list[Diagnostic]:
    return [d for d in analyse(MODULE.format(**{**LIGHTNING, **parts})).diagnostics if d.severity is not Severity.HINT]


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"line": "import lightning as L", "base": "L.LightningModule"},
        {"line": "from lightning.pytorch import LightningModule", "base": "LightningModule"},
        {"result": "{'loss': loss, 'h': 1}"},
        {
            "line": "from transformers import Trainer",
            "base": "Trainer",
            "method": "compute_loss(self, model, inputs, return_outputs=False)",
            "result": "(loss, 1) if return_outputs else loss",
        },
    ],
    ids=["pl", "L", "from", "dict", "trainer"],
)
def test_state_kept_from_one_batch_to_the_next(parts: dict[str, str]) -> None:
    (kept,) = found(**parts)
    assert (kept.code, kept.severity) == ("TL102", Severity.WARNING)
    assert "`self.h`" in kept.message and "once per batch" in kept.needs


@pytest.mark.parametrize(
    "parts",
    [
        {"h": "self.h.detach()"},
        {"more": "self.automatic_optimization = False"},
        {"line": "import elsewhere", "base": "elsewhere.Module"},
        {"method": "validation_step(self, batch, index)"},
        {"result": "None"},
        {"more": "self.lr = 1\n\n    def backward(self, loss):\n        loss.backward(retain_graph=True)"},
    ],
    ids=["detached", "manual", "unknown", "validation", "nothing", "own backward"],
)
def test_no_findings(parts: dict[str, str]) -> None:
    assert found(**parts) == []


MANUAL = {
    "more": "self.automatic_optimization = False",
    "walk": "opt = self.optimizers(); opt.zero_grad(); self.manual_backward(loss); opt.step()",
}


def test_manual_optimization() -> None:
    (kept,) = found(**MANUAL)
    assert (kept.code, kept.severity) == ("TL102", Severity.ERROR)
    assert found(**MANUAL, h="self.h.detach()") == []


LOOP = """import torch
from torch import nn
{line}
net = nn.RNNCell(3, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net, opt = {prepared}
h = torch.zeros(2, 4)
for _ in range(4):
    opt.zero_grad()
    h = net(torch.randn(2, 3), {h})
    {walk}
    opt.step()
"""


@pytest.mark.parametrize(
    ("line", "name", "prepare"),
    [
        ("from accelerate import Accelerator\na = Accelerator()", "a", "prepare"),
        ("import lightning as L\nf = L.Fabric(accelerator='cpu')", "f", "setup"),
        ("from lightning.fabric import Fabric\nf = Fabric()", "f", "setup"),
    ],
)
def test_prepare_and_backward_of_launchers(line: str, name: str, prepare: str) -> None:
    prepared, walk = f"{name}.{prepare}(net, opt)", f"{name}.backward(h.sum())"
    (kept,) = analyse(LOOP.format(line=line, prepared=prepared, walk=walk, h="h")).diagnostics
    assert (kept.code, kept.severity) == ("TL102", Severity.ERROR)
    assert not analyse(LOOP.format(line=line, prepared=prepared, walk=walk, h="h.detach()")).diagnostics


@pytest.mark.parametrize("kind", ["classmethod", "staticmethod"])
def test_steps_of_a_class_end_no_entry_point(kind: str) -> None:
    """A framework calls these hooks on an object; a program may make them class methods all the same."""
    first = "cls, " if kind == "classmethod" else ""
    text = f"""import torch
import pytorch_lightning as pl

class Net(pl.LightningModule):
    @{kind}
    def training_step({first}batch, index):
        return batch.sum()

    @{kind}
    def configure_optimizers({first.removesuffix(", ")}):
        return torch.optim.SGD([torch.ones(2, requires_grad=True)], lr=0.1)

pl.Trainer().fit(Net(), [torch.ones(2)])
"""
    report = analyse(text)
    assert report.stats["faults"] == 0
    assert report.notices == ()
