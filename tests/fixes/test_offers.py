"""A fix is offered only if the edited program raises no error that it did not raise before."""

from __future__ import annotations

from tests.shared_programs import UNSET

from tapelint.analysis import analyse, fixes, offer, trials
from tapelint.analysis.offers import no_fix
from tapelint.severity import Severity
from tapelint.source import apply

SUMMED = """import torch
from torch import nn

layers = [nn.Linear(4, 4) for _ in range(3)]
for x in torch.randn(5, 2, 4):
    hidden = []
    for layer in layers:
        x = torch.tanh(layer(x))
        hidden.append(x)
    loss = 0
    for h in hidden:
        loss = loss + h.pow(2).mean()
        loss.backward(retain_graph=True)
"""


def test_fixes_of_silent_hazards_do_not_raise() -> None:
    """Detaching the running sum between the layers would leave ``loss.backward()`` without a graph."""
    report = analyse(SUMMED)
    assert [d.code for d in report.diagnostics] == ["TL104"]
    for diagnostic in report.diagnostics:
        for fix in fixes(report, diagnostic):
            text = apply(SUMMED, fix.edits)
            assert not [d for d in analyse(text).diagnostics if d.severity is Severity.ERROR], text


def test_an_error_without_a_cure_says_why() -> None:
    report = analyse(UNSET)
    (diagnostic,) = report.diagnostics
    assert diagnostic.code == "TL508" and diagnostic.raises
    assert offer(report, diagnostic).no_fix == "what `factor` is to be cannot be seen"


def test_a_reason_counts_what_was_tried() -> None:
    (finding,) = analyse(UNSET).findings.values()
    assert (no_fix(finding, 3, ()) or "").startswith("each of the 3 edits that were tried leaves the error")
    assert no_fix(finding, 1, ()).startswith("the one edit that was tried leaves the error")
    assert no_fix(finding, 0, ()) == "what `factor` is to be cannot be seen"


def test_what_has_a_fix_or_raises_nothing_needs_no_reason() -> None:
    for text in (SUMMED, "import torch\ny = torch.ones(3, requires_grad=True).exp()\ny += 1\ny.sum().backward()\n"):
        report = analyse(text)
        assert report.diagnostics and not any(offer(report, each).no_fix for each in report.diagnostics)


KEPT = """import torch

w = torch.ones(3, requires_grad=True)
h = w.exp()
torch.autograd.grad(h.sum(), w, retain_graph=False)
for k in range(3):
    (h * k).sum().backward()
"""


def test_a_graph_is_kept_for_every_iteration() -> None:
    """Kept once it lasts for the first one; the same call then raises again, until it keeps the graph as well."""
    report = analyse(KEPT, "a.py")
    (found,) = report.diagnostics
    fix = next(fix for fix in fixes(report, found) if "retain_graph" in fix.title)
    assert "and 1 more like it" in fix.title
    after = apply(KEPT, fix.edits)
    assert after.count("retain_graph=True") == 2 and not analyse(after, "a.py").diagnostics


VIEWS = """import torch

x = torch.ones(3, 4, requires_grad=True)
y = x * 2
a, b, c = y.unbind()
y += 1
(a * b).sum().backward()
"""


def test_views_that_autograd_protects_can_be_those_of_a_copy() -> None:
    """Unsafe, since they keep the values from before the write; also where a display or a loop makes them."""
    for made in ("a, b, c = y.unbind()", "a, b, c = y", "a, b, c = torch.chunk(y, 3)", "for a in y:\n    b = a"):
        text = VIEWS.replace("a, b, c = y.unbind()", made)
        report = analyse(text, "a.py")
        (found,) = report.diagnostics
        (fix,) = fixes(report, found)
        assert (found.code, fix.applicability) == ("TL204", "unsafe") and "before the write" in fix.effect
        after = apply(text, fix.edits)
        assert "y.clone()" in after and not analyse(after, "a.py").diagnostics


def test_detaching_in_place_is_taken_back() -> None:
    text = "import torch\nw = torch.ones(3, requires_grad=True)\nloss = w.sum()\nloss.detach_()\nloss.backward()\n"
    report = analyse(text, "a.py")
    (found,) = report.diagnostics
    (fix,) = fixes(report, found)
    assert apply(text, fix.edits) == text.replace("loss.detach_()\n", "")


COPIED = """import torch
import torch.nn.functional as F

a, target = torch.randn(3, requires_grad=True), torch.randn(3)
loss = F.smooth_l1_loss(a.exp(), target)
target += 1
loss.backward()
"""


def test_no_fix_has_an_edit_that_another_does_without() -> None:
    report = analyse(COPIED)
    (diagnostic,) = (found for found in report.diagnostics if found.code == "TL201")
    texts = [apply(COPIED, fix.edits) for fix in fixes(report, diagnostic)]
    assert any("F.smooth_l1_loss(a.exp(), target.clone())" in text for text in texts)
    assert not any(text.count("clone()") > 1 for text in texts)


INITIAL = """import torch
from torch import nn

layer = nn.Linear(3, 3)
layer.weight.uniform_(-1, 1)
layer.bias.zero_()
"""


def test_a_fix_of_all_writes_is_told_from_that_of_one() -> None:
    report = analyse(INITIAL)
    (diagnostic,) = report.diagnostics
    texts = {fix.title: apply(INITIAL, fix.edits) for fix in fixes(report, diagnostic)}
    assert [title.split(" under ")[0] for title in texts] == ["Update `layer.weight`", "Update only `layer.weight`"]
    assert [text.count("    layer.") for text in texts.values()] == [2, 1]


ASYNC = """import asyncio

import torch
from torch import nn


async def loader():
    for x in torch.randn(3, 2, 3):
        yield x


async def train(cell, h):
    async for x in loader():
        h = cell(x, h)
        h.sum().backward()


asyncio.run(train(nn.GRUCell(3, 4), torch.zeros(2, 4)))
"""


def test_an_asynchronous_loop_gets_the_fixes_of_a_loop() -> None:
    """A state is detached at the start of each iteration, and what is computed once is computed in each."""
    report = analyse(ASYNC)
    (diagnostic,) = report.diagnostics
    first = fixes(report, diagnostic)[0]
    assert "        h = h.detach()\n        h = cell(x, h)" in apply(ASYNC, first.edits)
    once = ASYNC.replace("    async for", "    f = cell(torch.ones(2, 3), h)\n    async for")
    once = once.replace("h = cell(x, h)", "y = f + x.mean()").replace("h.sum()", "y.sum()")
    report = analyse(once)
    (diagnostic,) = report.diagnostics
    first = fixes(report, diagnostic)[0]
    assert "        f = cell(torch.ones(2, 3), h)\n        y = f" in apply(once, first.edits)


PRODUCTS = """import torch

x, w = torch.ones(3, requires_grad=True), torch.ones(3)
y = x * w + x * x * w
w += 1
y.sum().backward()
"""


def test_what_is_made_twice_is_offered_once() -> None:
    """Begun at either product, the copies that both must save are the same; a third copy is of no use."""
    report = analyse(PRODUCTS)
    (diagnostic,) = report.diagnostics
    titles = [fix.title for fix in fixes(report, diagnostic)]
    assert len(titles) == len(set(titles)) == 3 and "and 1 more like it" in titles[-1]


SCALED = """import torch
from torch import nn

net, scaler = nn.Linear(3, 1), torch.amp.GradScaler("cpu")


def clip(network):
    nn.utils.clip_grad_norm_(network.parameters(), 1.0)


def train(optimizer):
    for x in torch.ones(3, 1, 3):
        optimizer.zero_grad()
        scaler.scale(net(x).sum()).backward()
        clip(net)
        scaler.step(optimizer)
        scaler.update()


train(torch.optim.SGD(net.parameters(), lr=0.1))
"""


def test_nothing_is_written_where_its_names_mean_nothing() -> None:
    """The optimizer is a variable of the function that calls the one that clips."""
    report = analyse(SCALED)
    (diagnostic,) = report.diagnostics
    assert diagnostic.code == "TL405" and not fixes(report, diagnostic)
    here = SCALED.replace("        clip(net)", "        nn.utils.clip_grad_norm_(net.parameters(), 1.0)")
    report = analyse(here)
    (fix,) = (fix for diagnostic in report.diagnostics for fix in fixes(report, diagnostic))
    assert "        scaler.unscale_(optimizer)\n        nn.utils" in apply(here, fix.edits)


TWICE = """import torch


def train(net, data):
    total = 0
    for x in data:
        loss = net(x).sum()
        loss.backward()
        total += loss


def test(net, data):
    losses = []
    for x in data:
        loss = net(x).sum()
        losses.append(loss)
        loss.backward()
        loss.backward()
"""


def test_fixes_that_are_verified_one_after_the_other_are_the_same() -> None:
    """What one verification has executed is not executed again by the next one, and changes nothing that it says."""
    report, memory = analyse(TWICE), trials()
    assert len(report.diagnostics) > 1
    machines = set()
    for diagnostic in report.diagnostics:
        assert offer(report, diagnostic, memory=memory) == offer(analyse(TWICE), diagnostic, memory=trials())
        machines.add(id(memory.machine))
    assert len(machines) == 1


WRAPPED = """import torch


def train(net, loader, optimizer, criterion):
    for data, target in loader:
        out, teacher = net(data)
        loss = criterion(out, target)
        loss = torch.tensor(loss.item(), requires_grad=True)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
"""


def test_a_leaf_is_not_made_of_the_tensor_instead_of_its_number() -> None:
    """``torch.tensor(loss, requires_grad=True)`` has no graph behind it either."""
    (finding,) = analyse(WRAPPED).findings.values()
    assert [each.purpose for each in finding.cures] == ["unwrap"]
