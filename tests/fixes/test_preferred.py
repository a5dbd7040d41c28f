"""Which fix comes first: the one after which the program does what it was meant to do, not just one that runs."""

from __future__ import annotations

from tapelint.analysis import analyse, fixes
from tapelint.report import Fix
from tapelint.severity import Severity
from tapelint.source import apply

ATTACK = """import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
x = torch.rand(2, 4)
adv = x.clone().requires_grad_(True)
for i in range(3):
    net(adv).sum().backward()
    adv = adv + 0.01 * adv.grad.sign()
    adv = torch.clamp(adv, 0, 1)
"""

CRITIC = """import torch
from torch import nn

G, D = nn.Linear(8, 8), nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
opt_g, opt_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())


def critic(fake):
    score = D(fake).mean()
    score.backward()


def turn(real):
    fake = torch.tanh(G(real))
    for _ in range(3):
        opt_d.zero_grad()
        critic(fake)
        opt_d.step()
    opt_g.zero_grad()
    (-D(fake).mean()).backward()
    opt_g.step()


turn(torch.randn(4, 8))
"""

HEADS = """import torch
from torch import nn

body, heads = nn.Linear(4, 4), [nn.Linear(4, 1) for _ in range(3)]
with torch.enable_grad():
    feature = torch.tanh(body(torch.randn(2, 4)))


def run():
    for head in heads:
        head(feature).sum().backward()


run()
"""

LEVEL = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.level = nn.Parameter(torch.zeros(4))
        self.query = nn.Parameter(torch.randn(2, 4))

    def forward(self, x):
        q = self.query
        q += self.level
        return x @ q.t()


Net()(torch.randn(3, 4)).sum().backward()
"""

PAIR = """import torch
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, image):
        return torch.sigmoid(self.net(image))


G, D = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8)), Critic()
opt_g, opt_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
bce = nn.BCELoss()
for i in range(3):
    real = torch.randn(4, 8)
    fake = G(torch.randn(4, 8))
    g_loss = bce(D(fake), torch.ones(4, 1))
    opt_g.zero_grad()
    g_loss.backward(retain_graph=True)
    opt_g.step()
    real_loss = bce(D(real), torch.ones(4, 1))
    fake_loss = bce(D(fake), torch.zeros(4, 1))
    d_loss = (real_loss + fake_loss) / 2
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
"""

SHARED = """    score = D(fake)
    d_loss = bce(D(real), torch.ones(4, 1)) + bce(score, torch.zeros(4, 1))
    g_loss = bce(score, torch.ones(4, 1))
    d_loss.backward(retain_graph=True)
    opt_d.step()
    g_loss.backward()
    opt_g.step()
"""

AVERAGE = """import torch
from torch import nn

online, target = nn.Linear(4, 4), nn.Linear(4, 4)
for p, q in zip(online.parameters(), target.parameters()):
    q.lerp_(p, 0.1)
"""


def _offered(text: str) -> tuple[Fix, ...]:
    report = analyse(text)
    (diagnostic,) = (d for d in report.diagnostics if d.severity is Severity.ERROR)
    return fixes(report, diagnostic)


def test_adversarial_inputs_prefer_a_new_leaf() -> None:
    """To keep its gradient would let the next backward walk the graph of the iteration before."""
    best, *others = _offered(ATTACK)
    assert best.applicability == "safe" and best.preferred
    assert "adv = torch.clamp(adv, 0, 1).detach().requires_grad_()\n" in apply(ATTACK, best.edits)
    assert any("Keep the gradient" in fix.title for fix in others)


def test_retain_graph_across_a_step_is_not_preferred() -> None:
    best, *others = _offered(CRITIC)
    assert "score = D(fake.detach()).mean()\n" in apply(CRITIC, best.edits)
    assert not any("retain_graph=True" in fix.title and fix.applicability == "safe" for fix in others)


def test_retain_graph_without_a_step_is_safe() -> None:
    assert any("retain_graph=True" in fix.title and fix.applicability == "safe" for fix in _offered(HEADS))


def test_terms_added_to_a_leaf_keep_their_gradient() -> None:
    best = _offered(LEVEL)[0]
    assert best.applicability == "safe" and best.preferred
    assert "q = q + self.level\n" in apply(LEVEL, best.edits)


def test_parameter_averages_prefer_no_grad() -> None:
    best = _offered(AVERAGE)[0]
    assert best.applicability == "safe" and best.preferred and "no_grad" in best.title


def test_generated_images_are_detached_for_the_discriminator() -> None:
    best = _offered(PAIR)[0]
    assert "fake_loss = bce(D(fake.detach()), torch.zeros(4, 1))\n" in apply(PAIR, best.edits)


def test_shared_trunks_are_not_detached() -> None:
    """Both losses share the discriminator's output, and the generator has its gradient from there only."""
    text = PAIR[: PAIR.index("    g_loss")] + SHARED
    assert not any("Detach" in fix.title for fix in _offered(text))
