"""The preferred cure of the error that PyTorch raises, applied and run: nothing raises, nothing is trained less; and
every safe cure of whatever is found: the steps of optimizers find the gradients that they are meant to.

`make cures` prints the figures. What fails is listed in `uncured.txt`, which may only become shorter.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from tools.cures.__main__ import all_random
from tools.cures.curing import End, cure, harms
from tools.cures.figures import Figures, percent
from tools.cures.programs import ROOT, Written, cases, written
from tools.cures.trained import starving, unlike

from mdspec import Block

PROGRAMS = list(written())
CASES = list(cases(ROOT.parent / "shared" / "cases"))
"""Programs after real reports, each with a twin that is right; none where that folder is not there."""
FAILING = frozenset(
    line for line in Path(__file__).with_name("uncured.txt").read_text().splitlines() if not line.startswith("#")
)
"""Blocks of which a cure is known to fail."""
OFFERED, CLEAN = 66.0, 85.0
"""Percent of random programs that raise: those with a cure, and those of them that run clean. Both only grow, unless
cures are withdrawn that may harm: 198 of 300 have one since no state is detached where it is still used (201 before).
Here are 100 of them; `make cures` asks for 300.
"""
SCATTER = 8.0
"""Percent by which a part of them may fall short."""
PARTS, PART = 2, 50


def program(text: str) -> Written:
    return Written("test", "here", Block(Path("here.md"), "here", 0, text, preamble=""))


@pytest.mark.parametrize("written", [*PROGRAMS, *CASES], ids=lambda one: one.name)
def test_cures(written: Written) -> None:
    """One test of both, for they ask PyTorch and tapelint for the same."""
    written = written.anew()
    found = harms(written)
    if written.kind != "cases":
        made = cure(written)
        if made.end not in (End.RAISES, End.AGAIN, End.LOSES):
            assert written.name not in FAILING, "runs clean: take it out of uncured.txt"
        elif written.name not in FAILING:
            steps = "".join(f"\n> {step.title}" for step in made.steps)
            found.append(f"{made.end.value}: {made.error}{steps}\n{made.program.text}")
    if found:
        pytest.fail("\n".join(found), pytrace=False)


GAN = """import torch
from torch import nn

G, D = nn.Linear(4, 4), nn.Linear(4, 1)
opt_g, opt_d = torch.optim.SGD(G.parameters(), lr=0.1), torch.optim.SGD(D.parameters(), lr=0.1)
for _ in range(2):
    fake = G(torch.randn(2, 4)).tanh()
    opt_d.zero_grad()
    D(fake).tanh().mean().backward()
    opt_d.step()
    opt_g.zero_grad()
    D(fake).tanh().mean().backward()
    opt_g.step()
"""
RIGHT = GAN.replace("D(fake)", "D(fake.detach())", 1)


@pytest.mark.parametrize(
    ("text", "harm"),
    [
        (RIGHT, ""),
        (RIGHT.replace("D(fake).tanh", "D(fake).sigmoid"), "the gradient of parameter 0 of optimizer 1"),
        (GAN.replace("tanh()\n", "tanh().detach()\n", 1), "parameter 0 of optimizer 1 has no gradient in step 1"),
        (GAN.replace("D(fake).tanh", "D(2 * fake.detach()).tanh", 1), "the gradient of parameter 0 of optimizer 0"),
    ],
)
def test_harm_is_seen(text: str, harm: str) -> None:
    ran, right = program(text).run(), program(RIGHT).run()
    found = starving(ran.trained, right.trained) or unlike(ran.trained, right.trained)
    assert found.startswith(harm) and bool(found) is bool(harm)


def test_only_blocks_that_exist_are_listed() -> None:
    assert {one.name for one in PROGRAMS} >= FAILING


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.timeout(600)
def test_random_programs_are_cured(part: int) -> None:
    figures, failing = Figures(), []
    for made in all_random(1 + part * 1000, PART, 1):
        figures.add(made)
        if made.is_offered and made.end is not End.CLEAN:
            failing.append(f"{made.program.name}: {made.end.value}: {made.error}")
    assert percent(figures.offered, figures.raising) >= OFFERED - SCATTER, figures
    assert percent(figures.clean, figures.offered) >= CLEAN - SCATTER, "\n".join(failing)


HEAD = "import torch\nw = torch.ones(3, requires_grad=True)\n"


@pytest.mark.parametrize(
    ("text", "end"),
    [
        (HEAD + "w.sum().backward()\n", End.RUNS),
        (HEAD + "y = w.exp()\ny += 1\ny.sum().backward()\n", End.CLEAN),
        ("import torch\ntorch.linalg.inv(torch.zeros(2, 2))\n", End.UNREPORTED),
        (HEAD + "raise OSError\n", End.RUNS),
        (HEAD + "try:\n    w.data.inverse()\nexcept RuntimeError as e:\n    raise OSError from e\n", End.UNREPORTED),
        (HEAD + "y = w.exp()\ny += 1\ny.sum().backward()\nassert w.grad is None\n", End.RAISES),
    ],
)
def test_ends(text: str, end: End) -> None:
    assert cure(program(text)).end is end


def test_leaves_that_only_the_failing_backward_reaches_are_known() -> None:
    made = program(HEAD + "v = torch.ones(3, requires_grad=True)\ny = v.exp()\ny += 1\ny.sum().backward()\n").run()
    assert made.row == 6 and made.reached.names == {"v"}
    cut = program(HEAD + "v = torch.ones(3, requires_grad=True)\ny = v.detach().exp()\n").run()
    assert made.reached.lost_in(cut.reached) == ["v"]


def test_loops_are_lengthened_where_nothing_counts() -> None:
    from tools.cures.curing import lengthened

    text = "for _ in range(2):\n    print(1)\nfor i in range(3):\n    print(i)\nfor _ in range(9):\n    pass\n"
    assert lengthened(text) == text.replace("range(2)", "range(5)")
