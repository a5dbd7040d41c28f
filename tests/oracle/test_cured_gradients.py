"""After their preferred cures the commonest programs that raise train as those that an expert writes: after five
iterations each gradient and each parameter is the same.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch
from tools.cures.curing import End, cure
from tools.cures.programs import Written

from mdspec import Block

GAN = """import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(8, 8), nn.Tanh())
D = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
nets = [G, D]
opt_g, opt_d = torch.optim.Adam(G.parameters(), lr=0.05), torch.optim.Adam(D.parameters(), lr=0.05)
for i in range(5):
    real = torch.randn(4, 8)
    fake = G(torch.randn(4, 8))
"""

TUTORIAL = """    opt_d.zero_grad()
    F.softplus(-D(real)).mean().backward()
    F.softplus(D(fake.detach())).mean().backward()
    opt_d.step()
    opt_g.zero_grad()
    F.softplus(-D(fake)).mean().backward()
    opt_g.step()
"""

SHARED = {
    "a fake": """    d_loss = F.softplus(-D(real)).mean() + F.softplus(D(fake)).mean()
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
    g_loss = F.softplus(-D(fake)).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
""",
    "a score": """    score = D(fake)
    d_loss = F.softplus(-D(real)).mean() + F.softplus(score).mean()
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
    g_loss = F.softplus(-score).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
""",
    "both losses": """    score = D(fake)
    d_loss = F.softplus(-D(real)).mean() + F.softplus(score).mean()
    g_loss = F.softplus(-score).mean()
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
""",
}

STEPS = """import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
nets = [net]
opt = torch.optim.SGD(net.parameters(), lr=0.1)
total = 0.0
for i in range(5):
    x, y = torch.randn(2, 4), torch.randn(2, 1)
    loss = (net(x) - y).pow(2).mean() / 2
"""

EACH = """    loss.backward()
    total += loss.item()
    if i % 2 == 1:
        opt.step()
        opt.zero_grad()
"""

ACCUMULATED = {
    "the total": """    total += loss
    total.backward()
    if i % 2 == 1:
        opt.step()
        opt.zero_grad()
""",
    "a sum": """    total = total + loss
    total.backward()
    if i % 2 == 1:
        opt.step()
        opt.zero_grad()
""",
}

CASES = [
    *(pytest.param(GAN + body, GAN + TUTORIAL, id=f"GAN: {name}") for name, body in SHARED.items()),
    *(pytest.param(STEPS + body, STEPS + EACH, id=f"accumulation: {name}") for name, body in ACCUMULATED.items()),
]


def trained(text: str) -> list[torch.Tensor]:
    """The parameters and their gradients in the end."""
    names: dict[str, object] = {}
    exec(compile(text, "<program>", "exec"), names)
    nets = names["nets"]
    assert isinstance(nets, list)
    return [part for net in nets for p in net.parameters() for part in (p, p.grad)]


@pytest.mark.parametrize(("raising", "right"), CASES)
def test_cured_program_trains_as_the_one_an_expert_writes(raising: str, right: str) -> None:
    made = cure(Written("test", "here", Block(Path("here.md"), "here", 0, raising, preamble="")))
    assert made.end is End.CLEAN and made.steps, made.error
    found, wanted = trained(made.program.text), trained(right)
    assert len(found) == len(wanted) and all(torch.allclose(a, b, atol=1e-6) for a, b in zip(found, wanted))


def test_what_trains_otherwise_is_told_apart() -> None:
    wrong = trained(GAN + TUTORIAL.replace("fake.detach()", "fake.detach() * 2"))
    assert not all(torch.allclose(a, b, atol=1e-6) for a, b in zip(wrong, trained(GAN + TUTORIAL)))
