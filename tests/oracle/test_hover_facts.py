"""What hovers state, asked of real PyTorch: leaf or not, requires_grad, the name of grad_fn, safe writes."""

from __future__ import annotations

import re

import pytest
import torch

from tapelint.analysis import analyse
from tapelint.hover import hover_at
from tapelint.severity import Severity

SETUP = """\
import torch
from torch import nn
import torch.nn.functional as F
x = torch.rand(3, 3, requires_grad=True) + 1
x = x.detach().requires_grad_()
w = torch.rand(3, 3, requires_grad=True)
p = nn.Parameter(torch.ones(3))
a = torch.rand(3, 3)
n = x * 2
net = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1))
"""
EXPRESSIONS = """
x | a | p | n | x * 2 | 2 * x | x / 2 | 2 / x | x ** 2 | 2 ** x | 1 - x | x - 1 | x + w | x * w | x @ w | -x
abs(x) | x ** w | a * 2 | a + x | x.exp() | x.sigmoid() | x.tanh() | x.relu() | x.sqrt() | x.log() | x.sum()
x.sum(0) | x.mean() | x.mean(0) | x.std() | x.norm() | x.var() | x.softmax(0) | x.log_softmax(1) | x.clamp(0, 1)
x.abs() | x.pow(2) | x.t() | x.T | x.view(9) | x.reshape(9) | x.flatten() | x.transpose(0, 1) | x.permute(1, 0)
x.unsqueeze(0) | x.squeeze() | x.expand(3, 3) | x.clone() | x.detach() | x.data | x.max() | x.max(0)[0]
x.max(0)[1] | x.argmax() | x > 0 | x == w | x[0] | x[:, 1:] | x[torch.tensor([0])] | x.cumsum(0) | x.prod()
x.cumprod(0) | x.sort()[0] | x.topk(2)[0] | x.float() | n.float() | n.double() | n.contiguous() | x.double()
n.to(torch.float64) | n.cpu() | a.double() | n.type(torch.float64) | torch.exp(x) | torch.stack([x, w])
torch.cat([x, a]) | torch.matmul(x, w) | torch.mm(x, w) | torch.where(a > 0, x, w) | torch.zeros(3)
torch.zeros(3, requires_grad=True) | torch.zeros_like(x) | torch.randn_like(x) | torch.tensor([1.0])
torch.ones(3) * x | torch.einsum("ij,jk->ik", x, w) | F.relu(x) | F.softmax(x, 1) | F.mse_loss(x, a)
F.mse_loss(x, w) | F.cross_entropy(x, torch.tensor([0, 1, 2])) | F.gelu(x) | F.linear(x, w) | F.log_softmax(x, 1)
F.dropout(x, 0.5) | F.layer_norm(x, (3,)) | F.normalize(x) | F.l1_loss(x, a) | F.smooth_l1_loss(x, a) | F.silu(x)
F.elu(x) | net(x) | net(a) | net(a).mean() | net[0](a) | nn.MSELoss()(x, a) | nn.Tanh()(x) | nn.Dropout(0.5)(x)
nn.LayerNorm(3)(a) | nn.Linear(3, 3)(a).detach() | x.chunk(3)[0] | x.split(1)[0] | x.unbind(0)[0]
x.masked_fill(a > 0, 0.0) | x.gather(0, torch.zeros(1, 3).long()) | x.repeat(2, 1) | x.roll(1)
torch.autograd.grad(x.exp().sum(), x)[0] | torch.autograd.grad(x.exp().sum(), x, create_graph=True)[0]
n.requires_grad_(True) | net[0].weight | net[0].weight.t() | net[0].bias.detach() | x.exp().add_(1)
n.clone().mul_(2) | x.exp().relu_() | a.clone().mul_(x)
"""

BLOCKS = """
v = x * 1
v += 1

v = x * 1
v[0] = 1.0
v = v

y = x * 1
v = y[0]
v += 1
v = v

y = x * 1
v = y.view(9)
y.mul_(2)
v = v

v = torch.zeros(3, 3)
v += x
v = v

v = torch.zeros(3, 3)
v[0] = x[0]
v = v

with torch.no_grad():
    v = x * 2

with torch.no_grad():
    v = p[0]

with torch.no_grad():
    with torch.enable_grad():
        v = x * 2

with torch.inference_mode():
    v = x * 2

for q in net.parameters():
    q.requires_grad_(False)
v = net(a)

v = torch.zeros(3, 3)
for i in range(3):
    v = torch.tanh(v @ w)

x.sum().backward()
v = x.grad

def f(t):
    return t.exp() * 2
v = f(x)

class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
    def forward(self, t):
        return torch.relu(self.fc(t))
v = M()(a)
"""

PROGRAMS = [f"v = {e}" for row in EXPRESSIONS.split("\n") for e in row.split(" | ") if e] + BLOCKS.strip().split("\n\n")


@pytest.mark.parametrize("body", PROGRAMS)
def test_hover_facts_are_true(body: str) -> None:
    """The hover of ``v``, where it is bound last, says of it what PyTorch says; what it does not know it leaves out."""
    text = SETUP + body + "\n"
    space: dict = {}
    exec(text, space)
    value = space["v"]
    rows = text.splitlines()
    row = max(i for i, line in enumerate(rows, 1) if re.match(r"\s*v\b.*=", line))
    found = hover_at(analyse(text), row, rows[row - 1].index("v") + 1)
    if found is None:
        pytest.skip("no hover")
    head = found.markdown.partition("\n")[0]
    if claim := re.search(r"requires_grad=(\w+)", head):
        assert claim[1] == str(value.requires_grad), head
    if "not a leaf if" not in head and "unless" not in head:
        if "not a leaf" in head:
            assert not value.is_leaf, head
        elif "leaf" in head:
            assert value.is_leaf, head
    if claim := re.search(r"grad_fn=(\w+)", head):
        assert claim[1] == type(value.grad_fn).__name__, head


WRITES = """
y = x * 2
y += 1

y = x * w
y += 1

y = x ** 2
y += 1

y = x.exp()
y += 1

y = x.sigmoid()
y *= 2

y = n * n
y += 1

y = x * 2
z = y * w
y += 1
y = z

y = x * 2
z = y * 3
y += 1
y = z

y = x * 2
z = y + w
y += 1
y = z

y = net[0](a)
y += 1

y = x * 2
z = net(y)
y += 1
y = z

y = F.relu(x)
y += 1

y = net[0](a)
y.relu_()

y = x.exp()
y.exp_()

y = x * 2
v = y[0]
v += 1

y = x.exp()
v = y[0]
v += 1

y = x.exp()
with torch.no_grad():
    y += 1

y = x * 2
with torch.no_grad():
    y += 1

y = x * 2
y[0] = 1.0

y = x.exp()
y[0] = 1.0

y = x.exp()
y.sum().backward()
y += 1
y = x.sum()

y = x.exp()
d = y.detach()
d += 1

y = x.sum()
y += 1

y = F.layer_norm(x, (3,))
y += 1

y = x.softmax(0)
y += 1

y = x * 2
z = y.log()
y += 1
y = z

y = a * x
a += 1

y = F.dropout(x)
y += 1

y = x / w
y += 1

y = x * 1
z = w / y
y += 1
y = z

y = torch.cat([x, w])
y += 1

y = x.mean(0)
y += 1

y = x * 2
y += 1
y = y.exp()
y += 1

y = x.std(0)
y += 1

y = x.norm()
y += 1

y = x.max(0)[0]
y += 1

y = x.clamp(0, 1)
y += 1

y = F.gelu(x)
y += 1

y = x.exp().clone()
y += 1

y = x * 2
z = y.masked_fill(a > 0, 0.0)
y += 1
y = z

y = x.sqrt()
y -= 1

y = w
y += 1

y = w * 1
with torch.no_grad():
    w += 1

y = w * x
with torch.no_grad():
    w += 1
"""


@pytest.mark.parametrize("body", WRITES.strip().split("\n\n"))
def test_hover_of_writes_is_true(body: str) -> None:
    """A write that is called safe runs, one that is said to raise raises; the last write of the program is judged."""
    text = SETUP + body + "\ny.sum().backward()\n"
    raised = ""
    try:
        exec(text, {})
    except RuntimeError as error:
        raised = str(error)
    rows = text.splitlines()
    row = max(
        i
        for i, line in enumerate(rows, 1)
        if re.search(r"[-+*]= |\w_\(\)|\[0\] = ", line) and not line.startswith("x = ")
    )
    column = re.search(r"[-+*]= |\w_\(\)|0\] = ", rows[row - 1]).start() + 1  # type: ignore[union-attr]
    report = analyse(text)
    found = hover_at(report, row, column)
    assert found is not None
    words = found.markdown.partition("\n---\n")[0]
    if raised:
        # The diagnostic, which editors show with the hover, says that it raises; the hover is headed by its code.
        loud = [d.code for d in report.diagnostics if d.severity is Severity.ERROR and d.span.holds(row, column)]
        assert loud and words.startswith(f"**{loud[0]}**") and "safe" not in words, words
    else:
        assert re.search(r"- (safe|nothing is known)", words), words
    assert not raised or "inplace operation" in raised or "in-place operation" in raised


def test_grad_of_a_non_leaf_stays_none() -> None:
    x = torch.ones(3, requires_grad=True)
    y, z = x * 2, x * 3
    z.retain_grad()
    (y + z).sum().backward()
    with pytest.warns(UserWarning):
        assert y.grad is None
    assert z.grad is not None and x.grad is not None


def test_detach_shares_writes_and_data_does_not() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    before = y._version
    y.detach().add_(1)
    assert y._version == before + 1
    y.data.add_(1)
    assert y._version == before + 1


def test_step_writes_those_that_have_a_gradient() -> None:
    w, b = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    opt = torch.optim.SGD([w, b], lr=0.1)
    (w * 2).sum().backward()
    opt.step()
    assert w._version == 1 and b._version == 0
    opt.zero_grad()
    assert w.grad is None


def test_autograd_grad_leaves_grad_alone() -> None:
    x = torch.ones(3, requires_grad=True)
    torch.autograd.grad(x.exp().sum(), x)
    assert x.grad is None


@pytest.mark.parametrize("sizes", ["3", "2, 3"], ids=["one", "batch"])
@pytest.mark.parametrize("cell", ["RNNCell", "GRUCell", "LSTMCell"])
def test_cells_have_another_grad_fn_with_a_batch(cell: str, sizes: str) -> None:
    item = "[0]" if cell == "LSTMCell" else ""
    text = (
        f"import torch\nfrom torch import nn\ncell = nn.{cell}(3, 4)\nh = cell(torch.rand({sizes})){item}\nprint(h)\n"
    )
    space: dict = {}
    exec(text, space)
    found = hover_at(analyse(text), 5, 7)
    assert found is not None and "requires_grad=True" in found.markdown
    claimed = re.findall(r"grad_fn=(\w+)", found.markdown)
    assert claimed in ([], [space["h"].grad_fn.name()])
