"""An iteration that would only repeat the one before is not run; one that may do anything else is."""

from __future__ import annotations

import pytest

from tapelint.analysis import analyse
from tapelint.severity import Severity

TRAINING = """\
import torch
from torch import nn
net = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
best, seen, losses = 0.0, 0, []
{head}
    out = (net(torch.randn(4, 3)) + net(torch.zeros(4, 3)) + net(torch.ones(4, 3))) / 3
    loss = (out - torch.randn(4, 1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    {tail}
"""
EPOCHS = "for epoch in range(n_epochs):"


def backwards(head: str, tail: str = "pass") -> int:
    return analyse(TRAINING.format(head=head, tail=tail)).stats["backwards"]


@pytest.mark.parametrize(
    "tail",
    [
        "pass",
        "print(f'epoch {epoch}: {loss.item():.3f}')",
        "message = f'epoch {epoch}: {loss.item()}'; print(message)",
        "message = 'epoch {}: {}'.format(epoch, loss.item()); print(message)",
        "torch.save({'epoch': epoch + 1, 'net': net.state_dict()}, 'last.pt')",
        "if epoch % 10 == 0: print(epoch, loss.item())",
        "if epoch == 1: print(loss.item())",
        "losses.append(loss.item())",
        "seen += 4",
        "best = max(best, loss.item())",
    ],
)
def test_the_third_iteration_repeats_the_second(tail: str):
    assert backwards(EPOCHS, tail) == 2


@pytest.mark.parametrize("head", ["for x, y in loader:", "for _ in range(1000):", "while not_done():"])
def test_loops_over_unknown_iterables_stop_early(head: str):
    assert backwards(head) == 2


@pytest.mark.parametrize(
    "tail",
    [
        "torch.save(net, 'first.pt') if epoch == 0 else None",
        "if epoch == 0: best = 1.0",
        "if epoch == 0: first = net(torch.ones(3)).sum()",
        "losses.append(loss.item()); print(len(losses))",
        "losses.append(loss)",
        "seen += 4; print('often' if seen > 8 else 'seldom')",
        "total = loss + (total if epoch else 0)",
    ],
)
def test_an_iteration_that_may_differ_is_executed(tail: str):
    assert backwards(EPOCHS, tail) >= 3


@pytest.mark.parametrize("head", ["for x in [1, 2, 3]:", "for i in range(3):", "while seen < 12:"])
def test_known_iterations_are_executed(head: str):
    assert backwards(head, "seen += 4") == 3


def test_a_value_carried_through_two_names_is_found():
    found = analyse(
        "import torch\n"
        "w = torch.ones(3, requires_grad=True)\n"
        "older = old = new = torch.zeros(3)\n"
        "for x in loader:\n"
        "    older, old, new = old, new, (w * torch.randn(3)).exp()\n"
        "    new.sum().backward()\n"
        "    if older.requires_grad:\n"
        "        older.sum().backward()\n"
    )
    assert [d.code for d in found.diagnostics if d.severity is Severity.ERROR] == ["TL102"]


def test_the_number_of_iterations_is_unknown_after_the_loop():
    text = TRAINING.format(head=EPOCHS, tail="pass") + "if epoch > 5:\n    (loss + 1).backward()\n"
    assert "TL101" in [d.code for d in analyse(text).diagnostics]


GROUPS = """\
import torch
from torch import nn
def groups(model):
    decayed, plain = [], []
    for p in model.parameters():
        if p.ndim > 1 and wanted(p):
            decayed.append(p)
        else:
            plain.append(p)
    return [{"params": decayed, "weight_decay": 0.1}, {"params": plain}]
def made(model):
    return torch.optim.AdamW(groups(model))
net = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1))
opt = made(net)
net(torch.randn(4, 3)).sum().backward()
opt.step()
"""


def test_how_parameters_were_collected_is_not_compared():
    assert analyse(GROUPS).stats["backwards"] == 1


NESTED = """\
import torch
from torch import nn
class Meter:
    def __init__(self):
        self.total, self.count = 0.0, 0
    def add(self, number):
        self.total, self.count = self.total + number, self.count + 1
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.state = nn.Linear(3, 3), None
    def forward(self, x):
        {forward}
        return self.cell(x).tanh().sum() + self.cell(x).relu().sum() + self.cell(x).exp().mean()
def train(net, opt, loader, epoch):
    meter = Meter()
    for index, x in enumerate(loader):
        loss = net(x)
        opt.zero_grad()
        loss.backward()
        opt.step()
        meter.add(loss.item())
        if index % 100 == 0:
            print(epoch, index, meter.total / meter.count)
    {after}
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(epochs):
    {before}
    mean = train(net, opt, loader, epoch)
"""


def nested(forward: str = "pass", after: str = "return meter.total", before: str = "pass"):
    return analyse(NESTED.format(forward=forward, after=after, before=before))


def test_the_second_epoch_repeats_the_first():
    """Two iterations; none in the next epoch, which begins as the second ended."""
    assert nested().stats["backwards"] == 2


@pytest.mark.parametrize(
    "change",
    [
        {"before": "net.state = None if epoch == 0 else net.cell(torch.ones(3)).exp().sum()"},
        {"before": "opt = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9) if epoch == 1 else opt"},
        {"after": "return loss"},
    ],
)
def test_an_epoch_that_begins_in_another_state_is_executed(change: dict[str, str]):
    assert nested(**change).stats["backwards"] > 2


def test_an_error_in_the_second_epoch_is_found():
    """The graph that epoch 1 left on the network is reached, and freed, in the first iteration of epoch 2."""
    report = nested(
        forward="if self.state is not None: x = x + self.state",
        before="net.state = net.cell(torch.ones(3)).exp() if epoch == 1 else net.state",
    )
    assert [d.code for d in report.diagnostics] == ["TL103"]


@pytest.mark.parametrize("after", ["assert meter.count > 0", "if meter.total == 0.0: raise ValueError"])
def test_a_skipped_run_counts_as_executed(after: str):
    """What follows is not decided by the numbers of a loop that has not run at all."""
    last = "early = net(torch.ones(3)); early.backward(); early.backward()"
    program = NESTED.format(forward="pass", after=after, before="pass")
    report = analyse(f"{program}    if epoch > 0:\n        {last}\n")
    assert [d.code for d in report.diagnostics] == ["TL101"]


LEFT = """\
import torch
from torch import nn
net = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(epochs):
    for x in loader:
        out = (net(torch.randn(4, 3)) + net(torch.zeros(4, 3)) + net(torch.ones(4, 3))) / 3
        loss = (out - torch.randn(4, 1)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if loss.item() < 1:
            break
    else:
        raise RuntimeError("not learnt")
end = torch.ones(3, requires_grad=True).exp()
end += 1
end.sum().backward()
"""


def test_a_run_of_a_loop_that_may_be_left_is_begun():
    """Two batches of the first epoch, one of the second, after which the loop may be left, and what follows. Were none
    of the second run, no path would get past the epochs: without a `break` the loop ends in the exception.
    """
    report = analyse(LEFT)
    assert report.stats["backwards"] == 4
    assert [d.code for d in report.diagnostics] == ["TL201"]


def test_an_epoch_is_not_run_again_for_data_that_differ_in_their_values_alone():
    """Of the second epoch nothing is executed: after it ``gap`` is a scalar without a graph, as it was before it."""
    tail = "gap = (out.detach() - 1).mean()\n  if gap > bound: break"
    assert backwards("for epoch in range(n_epochs):\n  for x, y in loader:", tail) == 2
