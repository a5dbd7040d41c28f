"""Which fix comes first: the one after which the program does what it was meant to do, not just one that runs."""

from __future__ import annotations

import re

import pytest

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
    assert any("retain_grad" in fix.title for fix in others)


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


GAN = """import torch
from torch import nn
from torch.nn import functional as F

G = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
D = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(), nn.Linear(16, 1))
opt_g, opt_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
for step in range(3):
    real, fake = torch.randn(6, 4), G(torch.randn(6, 8))
"""

FAKE_SHARED = """    opt_d.zero_grad()
    d_loss = F.softplus(-D(real)).mean() + F.softplus(D(fake)).mean()
    d_loss.backward()
    opt_d.step()
    opt_g.zero_grad()
    g_loss = F.softplus(-D(fake)).mean()
    g_loss.backward()
    opt_g.step()
"""

SCORE_REUSED = """    score = D(fake)
    d_loss = F.softplus(-D(real)).mean() + F.softplus(score).mean()
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
    g_loss = F.softplus(-score).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
"""

GENERATOR_FIRST = """    opt_g.zero_grad()
    g_loss = F.softplus(-D(fake)).mean()
    g_loss.backward()
    opt_g.step()
    opt_d.zero_grad()
    d_loss = F.softplus(-D(real)).mean() + F.softplus(D(fake)).mean()
    d_loss.backward()
    opt_d.step()
"""

LOSSES_FIRST = """    score = D(fake)
    d_loss = F.softplus(-D(real)).mean() + F.softplus(score).mean()
    g_loss = F.softplus(-score).mean()
    opt_d.zero_grad()
    d_loss.backward(retain_graph=True)
    opt_d.step()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
"""

TASKS = """import torch
from torch import nn

body, a, b = nn.Sequential(nn.Linear(4, 8), nn.Tanh()), nn.Linear(8, 1), nn.Linear(8, 1)
opt = torch.optim.SGD([*body.parameters(), *a.parameters(), *b.parameters()], lr=0.1)
for _ in range(3):
    x = torch.randn(2, 4)
    h = body(x)
    opt.zero_grad()
    a(h).mean().backward()
    opt.step()
    opt.zero_grad()
    b(h).mean().backward()
    opt.step()
"""


def test_a_fake_is_detached_for_the_discriminators_backward() -> None:
    text = GAN + FAKE_SHARED
    best, *others = _offered(text)
    after = apply(text, best.edits)
    assert "d_loss = F.softplus(-D(real)).mean() + F.softplus(D(fake.detach())).mean()\n" in after
    assert "g_loss = F.softplus(-D(fake)).mean()\n" in after and "no gradient" in best.effect
    assert not any("for `g_loss.backward()`" in fix.title for fix in others), "the generator would not be trained"
    assert best.applicability == "safe", "`opt_g.zero_grad()` throws away what is cut off"


@pytest.mark.parametrize("retains", [False, True])
def test_a_score_is_computed_again_after_the_discriminators_step(retains: bool) -> None:
    text = GAN + SCORE_REUSED
    text = text.replace("d_loss.backward()", "d_loss.backward(retain_graph=True)") if retains else text
    best = _offered(text)[0]
    after = apply(text, best.edits)
    assert best.preferred and "no gradient" in best.effect
    assert "    score = D(fake.detach())\n" in after and "retain_graph" not in after
    assert "    opt_d.step()\n    score = D(fake)\n    g_loss" in after


def test_a_loss_of_the_score_goes_after_the_step_with_it() -> None:
    text = GAN + LOSSES_FIRST
    after = apply(text, _offered(text)[0].edits)
    assert "    score = D(fake.detach())\n    d_loss" in after and "retain_graph" not in after
    assert "    score = D(fake)\n    g_loss = F.softplus(-score).mean()\n    g_loss.backward()\n" in after


def test_a_generator_that_has_stepped_gets_no_gradient_of_the_discriminators_loss() -> None:
    text = GAN + GENERATOR_FIRST
    after = apply(text, _offered(text)[0].edits)
    assert "F.softplus(D(fake.detach())).mean()\n" in after and after.count("detach") == 1
    assert _offered(text)[0].applicability == "safe", "`opt_g.zero_grad()` of the next iteration throws it away"


@pytest.mark.parametrize(
    "cleared",
    [
        FAKE_SHARED.replace("    opt_g.zero_grad()\n", ""),
        "    opt_g.zero_grad()\n" + FAKE_SHARED.replace("    opt_g.zero_grad()\n", ""),
        FAKE_SHARED.replace("    opt_d.step()\n", "    opt_d.step()\n    print(G[0].weight.grad)\n"),
        FAKE_SHARED.replace(
            "    opt_d.step()\n", "    nn.utils.clip_grad_norm_([*G.parameters()], 1.0)\n    opt_d.step()\n"
        ),
    ],
    ids=["never", "too early", "read before", "clipped before"],
)
def test_what_is_cut_off_and_used_makes_a_detach_unsafe(cleared: str) -> None:
    (best,) = (fix for fix in _offered(GAN + cleared) if fix.title.startswith("Detach `fake`"))
    assert best.applicability == "unsafe"


CELL = """import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.h = nn.Linear(4, 4), None

    def forward(self, x):
        h = torch.zeros_like(x) if self.h is None else self.h
        out = torch.tanh(self.layer(x) + h)
        self.h = out
        return out


cell = Cell()
opt = torch.optim.SGD(cell.parameters(), lr=0.1)
for _ in range(3):
    for x in torch.randn(5, 2, 4):
        y = cell(x)
    opt.zero_grad()
    y.pow(2).mean().backward()
    opt.step()
"""

STEP = CELL.replace("        y = cell(x)\n", "        pass\n").replace("y.pow(2)", "cell(x).pow(2)")

LATER = """import torch
from torch import nn

net, update = nn.Linear(8, 4), nn.Linear(4, 4)
opt = torch.optim.SGD([*net.parameters(), *update.parameters()], lr=0.1)
h = torch.zeros(2, 4)
for _ in range(3):
    out = torch.tanh(net(torch.cat([torch.randn(2, 4), h], 1)))
    h = torch.tanh(update(out))
    opt.zero_grad()
    out.pow(2).mean().backward()
    opt.step()
"""


def test_a_state_is_not_detached_inside_the_sequence_of_an_iteration() -> None:
    assert not _offered(CELL), "the gradients within an iteration would be others"
    best = _offered(STEP)[0]
    assert best.applicability == "safe" and "self.h = out.detach()" in apply(STEP, best.edits)


MEMORY = """import torch
from torch import nn

net = nn.Linear(4, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
memory = []
for _ in range(3):
    h = torch.tanh(net(torch.randn(2, 4)))
    memory.append(h)
    opt.zero_grad()
    (h @ torch.cat(memory).t()).mean().backward()
    opt.step()
"""


def test_what_is_kept_and_used_at_once_is_not_detached_where_it_is_kept() -> None:
    assert not any(fix.title.startswith("Detach") for fix in _offered(MEMORY)), "`h` is in the memory already"


def test_a_detach_that_leaves_a_layer_without_any_gradient_is_unsafe() -> None:
    assert {fix.applicability for fix in _offered(LATER)} == {"unsafe"}


def test_what_rests_on_a_guess_has_no_safe_fix() -> None:
    text = "def step(net, x):\n    y = net(x).exp()\n    y += 1\n    y.sum().backward()\n"
    (diagnostic,) = (report := analyse("import torch\n" + text)).diagnostics
    assert any(ground.kind == "guessed" for ground in diagnostic.rests_on)
    offered = fixes(report, diagnostic)
    assert offered and all(fix.applicability == "unsafe" and fix.title.endswith("[unsafe]") for fix in offered)


def test_a_second_loss_gets_a_forward_of_its_own_where_a_step_is_between() -> None:
    best = _offered(TASKS)[0]
    assert best.applicability == "safe"
    assert "    h = body(x)\n    b(h).mean().backward()\n" in apply(TASKS, best.edits)


def test_a_step_is_moved_with_a_warning_only() -> None:
    text = GAN + LOSSES_FIRST
    (moved,) = (fix for fix in _offered(text) if fix.title.startswith("Step after"))
    assert moved.applicability == "unsafe" and not moved.preferred and "both backwards" in moved.effect


STEPS = """import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
running = 0.0
for i in range(3):
"""

TERMS = [
    "    loss = net(torch.randn(2, 4)).pow(2).mean()\n    running += loss\n    running.backward()\n",
    "    loss = net(torch.randn(2, 4)).pow(2).mean()\n    running = running + loss\n    running.backward()\n",
    "    running += net(torch.randn(2, 4)).pow(2).mean()\n    running.backward()\n    opt.step()\n",
]


@pytest.mark.parametrize("body", TERMS)
def test_accumulated_gradients_are_those_of_each_term(body: str) -> None:
    best, *others = _offered(STEPS + body)
    after = apply(STEPS + body, best.edits)
    assert best.applicability == "safe" and best.preferred
    name = "loss" if "loss" in body else "term"
    assert f"{name}.detach()\n" in after and f"    {name}.backward()\n" in after
    assert not any("retain_graph" in fix.title for fix in others), "it would add old gradients again"


GROWS = """import torch
from torch import nn

cell = nn.GRUCell(3, 8)
h = torch.zeros(4, 8)
for step in range(3):
    h = cell(torch.randn(4, 3), h)
    h.sum().backward()
"""


def test_a_cure_that_would_be_noted_itself_is_none() -> None:
    """``retain_graph=True`` on a graph that grows is TL104."""
    best, *others = _offered(GROWS)
    assert "h.detach()" in apply(GROWS, best.edits) and best.applicability == "safe"
    assert not any("retain_graph" in fix.title for fix in others)


FROZEN = """import torch
from torch import nn

net, head = nn.Linear(4, 4), nn.Linear(4, 1)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)


def features(x):
    return torch.tanh(net(x))


f = features(torch.randn(2, 4))
for step in range(3):
    opt.zero_grad()
    head(f).mean().backward()
    opt.step()
"""


def test_a_cure_that_trains_less_comes_last() -> None:
    best, *others = _offered(FROZEN)
    assert "    f = features(" in apply(FROZEN, best.edits)
    training_less = [fix.applicability for fix in others if "no gradient" in fix.effect]
    assert training_less and set(training_less) == {"unsafe"}


ASSUMED_NETWORK = """import torch


def train(net, x):
    y = torch.exp(net(x))
    y += 1
    y.sum().backward()
"""


@pytest.mark.parametrize("text", [CRITIC, PAIR, GAN + FAKE_SHARED, GAN + SCORE_REUSED, GAN + LOSSES_FIRST, TASKS])
def test_an_unsafe_fix_says_what_is_lost(text: str) -> None:
    unsafe = [(fix.title, fix.effect) for fix in _offered(text) if fix.applicability == "unsafe"]
    assert unsafe and all(effect for _, effect in unsafe), unsafe


@pytest.mark.parametrize(
    ("write", "read", "applicability"),
    [
        ("part = y[1:]\npart.mul_(2)", "y", "unsafe"),  # PyTorch doubles a part of `y`; the new tensor would not
        ("part = y[1:]\npart[0] = 1.0", "y", "unsafe"),
        ("part = y.view(3, 1)\ny += 1", "part", "unsafe"),
        ("part = y.view(3, 1)\npart += 1", "part", "safe"),
        ("y[0] = 1.0\ny[1:] += 2", "y", "safe"),
    ],
)
def test_a_new_tensor_is_unsafe_where_another_view_shows_the_write(write: str, read: str, applicability: str) -> None:
    text = f"import torch\n\nx = torch.ones(3, requires_grad=True)\ny = x.exp()\n{write}\n{read}.sum().backward()\n"
    found = {fix.title: fix for fix in _offered(text)}
    anew = [fix for title, fix in found.items() if title.startswith(("Compute a new tensor", "Clone it first"))]
    assert {fix.applicability for fix in anew} == {applicability} and all(fix.effect for fix in anew[1:])
    assert any(fix.applicability == "safe" for fix in found.values())


def test_a_fix_of_what_is_assumed_says_so() -> None:
    report = analyse(ASSUMED_NETWORK)
    (diagnostic,) = report.diagnostics
    best, *_ = fixes(report, diagnostic)
    assert best.applicability == "unsafe" and "what the finding assumes" in best.effect


TWO_HAZARDS = """import torch

w = torch.ones(3, requires_grad=True)
y = w.exp()
y += 1
loss = y.sum()
for _ in range(2):
    loss.backward()
"""


def test_a_copy_is_offered_where_the_same_call_then_raises_for_another_reason() -> None:
    """One backward, two hazards: PyTorch names the first, and the next run the second."""
    report = analyse(TWO_HAZARDS)
    best, *_ = fixes(report, report.diagnostics[0])
    after = analyse(apply(TWO_HAZARDS, best.edits))
    assert [each.code for each in report.diagnostics] == ["TL201"]
    assert best.title.startswith("Compute a new tensor") and [each.code for each in after.diagnostics] == ["TL103"]


CALLED_LATER = """import torch

w = torch.ones(3, requires_grad=True)


def train(net, x):
    net(x).sum().backward()


y = w.exp()
y += 1
y.sum().backward()
train(torch.nn.Linear(3, 1, bias=False), torch.ones(3))
"""


def test_what_an_imagined_caller_trains_is_not_compared_with_the_program() -> None:
    """``train`` is tried out with parameters of all kinds where the script ends at an error before it calls it."""
    best, *_ = _offered(CALLED_LATER)
    assert best.title.startswith("Compute a new tensor")


PENALTY = """import torch

x = torch.rand(4, requires_grad=True)
g = torch.autograd.grad((x**3).sum(), x, create_graph=True)[0]
for _ in range(2):
    g.norm().backward()
"""


def test_a_detach_that_leaves_the_same_backward_without_graph_is_none() -> None:
    """``g.detach().norm().backward()`` is the call that raised, in other words."""
    assert not any("Detach `g`" in fix.title for fix in _offered(PENALTY))


INNER_STEP = """import torch

w = torch.randn(3, requires_grad=True)
fast = w
for task in torch.randn(2, 4, 3):
    (g,) = torch.autograd.grad((task @ fast).pow(2).mean(), fast, create_graph=True)
    fast = fast - 0.1 * g
    (task @ fast).pow(2).mean().backward()
"""


def test_a_detach_that_leaves_an_earlier_call_without_graph_is_none() -> None:
    """Before the first iteration ``fast`` is the leaf itself: detached, nothing is left to differentiate."""
    titles = [fix.title for fix in _offered(INNER_STEP)]
    assert titles and not any(re.search("Detach .* at the start", title) for title in titles)


KEPT_AND_GIVEN = """import torch
from torch import nn


class Prior(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean, self.total = nn.Parameter(torch.ones(3)), 0.0

    def forward(self):
        self.total = self.total + self.mean.pow(2).sum()
        return self.total
"""


def test_what_a_caller_goes_backward_from_keeps_its_graph() -> None:
    report = analyse(KEPT_AND_GIVEN)
    (diagnostic,) = report.diagnostics
    assert not fixes(report, diagnostic), "whatever detaches the sum takes the graph from what `forward` returns"


RISING = """import torch
from torch import nn

model = nn.Linear(3, 1)
x = torch.randn(5, 3, requires_grad=True)
for step in range(3):
    model(x).sum().backward()
    x += 0.1 * x.grad.sign()
"""


def test_a_leaf_whose_gradient_is_read_again_stays_a_leaf() -> None:
    best, *others = _offered(RISING)
    assert "torch.no_grad()" in apply(RISING, best.edits)
    assert not any(fix.title.startswith("Compute a new tensor") for fix in others)


PENALTY = """import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
penalty = sum(p.pow(2).sum() for p in net.parameters())
for epoch in range(2):
    for x in torch.randn(3, 2, 4):
        opt.zero_grad()
        loss = net(x).mean() + penalty
        loss.backward()
        opt.step()
"""


def test_a_safe_fix_that_is_made_twice_comes_before_unsafe_ones() -> None:
    best = _offered(PENALTY)[0]
    assert best.preferred and best.applicability == "safe"
    assert "        opt.zero_grad()\n" in (after := apply(PENALTY, best.edits)) and "detach" not in after
    assert "    for x in torch.randn(3, 2, 4):\n        penalty = sum(" in after


LATENT = """import torch
from torch import nn


class Trainer:
    def __init__(self, net, samples):
        self.net, self.samples = net, samples
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)

    def train(self):
        for step in range(3):
            loss = self.net(self.samples).pow(2).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()


encoder = nn.Linear(3, 4)
Trainer(nn.Sequential(nn.Linear(4, 4), nn.Tanh()), encoder(torch.randn(5, 3))).train()
"""


def test_what_takes_the_only_gradients_of_a_network_away_is_offered_and_not_preferred() -> None:
    found = _offered(LATENT)
    assert found and not any(fix.preferred for fix in found)
    assert all(fix.applicability == "unsafe" for fix in found)


EPISODES = """import torch
from torch import nn

policy = nn.Linear(4, 2)
opt = torch.optim.Adam(policy.parameters())
log_probs, rewards, history = [], [], []
for episode in range(3):
    for t in range(4):
        dist = torch.distributions.Categorical(logits=policy(torch.randn(4)))
        log_probs.append(dist.log_prob(dist.sample()))
        rewards.append(1.0)
        history.append(2.0)
    loss = -(torch.stack(log_probs) * torch.tensor(rewards)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(len(log_probs), len(history))
"""


def test_lists_that_a_loss_reads_together_are_emptied_together() -> None:
    after = apply(EPISODES, _offered(EPISODES)[0].edits)
    assert "    log_probs.clear()\n    rewards.clear()\n" in after and "history.clear" not in after


def test_a_list_that_the_loop_makes_anew_is_left_alone() -> None:
    text = EPISODES.replace("    for t in range(4)", "    rewards = []\n    for t in range(4)")
    after = apply(text, _offered(text)[0].edits)
    assert "log_probs.clear()" in after and "rewards.clear" not in after


USED_LATER = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x)


w = torch.ones(3, requires_grad=True)
y = w.exp()
y += 1
y.sum().backward()
with torch.no_grad():
    print(Net()(y))
"""


def test_what_an_imagined_training_reached_is_not_lost_where_the_program_goes_on() -> None:
    """The script ended before it called the network, which was tried as if it were trained."""
    assert _offered(USED_LATER)[0].preferred


WEIGHT = """import torch

x = torch.rand(3, requires_grad=True)
w = torch.rand(3, requires_grad=True)
(g,) = torch.autograd.grad((x * w).exp().sum(), x, create_graph=True)
with torch.no_grad():
    w.mul_(0.5)
g.sum().backward()
print(w.grad)
"""


def test_a_leaf_that_a_gradient_depends_on_stays_the_leaf() -> None:
    texts = [apply(WEIGHT, fix.edits) for fix in _offered(WEIGHT)]
    assert texts and all("w.mul_(0.5)" in text for text in texts)
    assert any(text.index("backward()") < text.index("w.mul_") for text in texts)


LOOPS = """import torch
from torch import nn

net = nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters())
for x in torch.rand(8, 2, 4):
    opt.zero_grad()
    net(x).sum().backward()
    opt.step()
for i, x in enumerate(torch.rand(8, 2, 4)):
    net(x).sum().backward()
    if (i + 1) % 2 == 0:
        opt.step()
        opt.zero_grad()
"""


def test_accumulated_gradients_are_not_cleared_before_each_backward() -> None:
    """What an earlier loop has used is cleared there: in the second loop two backwards belong to a step."""
    report = analyse(LOOPS)
    (diagnostic,) = report.diagnostics
    best, *others = fixes(report, diagnostic)
    assert best.preferred and best.applicability == "safe"
    assert "    opt.step()\n    opt.zero_grad()\nfor i, x" in apply(LOOPS, best.edits)
    assert not any("    opt.zero_grad()\n    net(x)" in apply(LOOPS, fix.edits) for fix in others)


DATA = """import torch
from torch import nn

G, D = nn.Linear(8, 8), nn.Linear(8, 1)
opt_g, opt_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
fake = torch.tanh(G(torch.randn(4, 8)))
D(fake).mean().backward()
opt_d.step()
(fake - 1).pow(2).mean().backward()
opt_g.step()
"""


def test_what_no_step_has_changed_is_not_computed_again() -> None:
    """The step wrote only what the first backward led to: the graph of `fake` is up to date, and data for `D`."""
    report = analyse(DATA)
    (diagnostic,) = report.diagnostics
    offered = fixes(report, diagnostic)
    assert diagnostic.help.startswith("Detach `fake` where it is used for `D(fake).mean().backward()`")
    assert offered[0].title.startswith("Detach `fake` for `D(fake).mean().backward()`")
    assert not any("again after the step" in fix.title or "from before the step" in fix.effect for fix in offered)


KEPT = """import torch

w = torch.ones(4, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
feature = torch.tanh(w)
for i in range(3):
    optimizer.zero_grad()
    (feature * i).sum().backward()
    optimizer.step()
"""


def test_a_graph_that_a_step_puts_out_of_date_is_not_kept_by_a_safe_fix() -> None:
    report = analyse(KEPT)
    (diagnostic,) = report.diagnostics
    moved, kept = fixes(report, diagnostic)
    assert (moved.preferred, moved.applicability) == (True, "safe") and "into the loop" in moved.title
    assert kept.applicability == "unsafe" and "from before the step" in kept.effect
