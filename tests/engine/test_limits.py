"""Every budget cuts off what lies beyond it, and what was cut off is counted."""

from __future__ import annotations

from dataclasses import replace

from tapelint.analysis import analyse
from tapelint.engine.limits import Limits

PATHS = """\
import random
import torch
y = torch.ones(3, requires_grad=True).exp()
z = y.exp()
if random.random() > 0.5: y.sum().backward()
if random.random() > 0.5: y += 1
z.sum().backward()
"""
LOOP = """\
import torch
w = torch.ones(3, requires_grad=True)
y = w.exp()
for i in range(100):
    if i % 5 == 4:
        y.sum().backward()
"""
COMPREHENSION = """\
import numpy as np
import torch
from data import loader
net = torch.nn.Linear(3, 1)
for batch in loader:
    parts = [torch.from_numpy(part) if isinstance(part, np.ndarray) else part for part in batch]
    net(parts[0]).sum().backward()
"""
CALLS = """\
import torch
def f(x): return g(x)
def g(x): return x.exp()
f(torch.ones(3))
"""

GIVEN_UP = """\
import torch
def burn(n): return [i * i for i in range(n)] + [i + 1 for i in range(n)]
def main(weighted, wide, n):
    if weighted == "yes": kind = torch.zeros(3, requires_grad=True).exp()
    else: kind = torch.zeros(3)
    if wide == "yes": width = torch.zeros(8, requires_grad=True).exp()
    else: width = torch.zeros(8)
    burn(n), burn(n), burn(n), burn(n)
    return kind, width
def train(net, loader):
    for x in loader:
        loss = net(x).mean()
        loss.backward()
        loss.backward()
main(input(), input(), int(input()))
"""


def test_fuel_of_the_script():
    assert analyse(LOOP).stats["out_of_fuel"] == 0
    assert analyse(LOOP, limits=Limits(script_fuel=3)).stats["out_of_fuel"] == 1


def test_paths():
    assert analyse(PATHS).stats["dropped"] == 0
    assert analyse(PATHS, limits=Limits(paths=2)).stats["dropped"] > 0


def test_paths_of_a_comprehension_meet():
    """Its items fork, and what comes after it runs once in each iteration of the loop."""
    stats = analyse(COMPREHENSION).stats
    assert (stats["dropped"], stats["backwards"]) == (0, 3)


def test_iterations_of_a_loop_that_counts():
    assert analyse(LOOP, limits=Limits(max_unroll=4)).stats["steps"] < analyse(LOOP).stats["steps"]


def test_depth_of_calls():
    assert analyse(CALLS).stats["unknown_calls"] == 0
    assert analyse(CALLS, limits=Limits(call_depth=1)).stats["unknown_calls"] == 1


def test_choices_of_a_call_that_was_given_up_are_none_of_other_functions():
    """They tell the path that was followed from others, and nothing of what a function does that nothing calls."""
    whole, part = analyse(GIVEN_UP), analyse(GIVEN_UP, limits=Limits(script_fuel=75))
    assert (whole.stats["out_of_fuel"], part.stats["out_of_fuel"]) == (0, 1)
    assert [each.code for each in whole.diagnostics] == [each.code for each in part.diagnostics] == ["TL101"]


WARM_UP = """\
import torch
from torch import nn
def train(start, batches):
    net, pose = nn.Linear(3, 1), nn.Linear(3, 3)
    opt, pose_opt = torch.optim.SGD(net.parameters(), lr=0.1), torch.optim.SGD(pose.parameters(), lr=0.1)
    for epoch in range(4):
        for x in batches:
            if epoch < start:
                with torch.no_grad():
                    x = pose(x)
            else:
                x = pose(x)CUT
            net(x).pow(2).mean().backward()
            opt.step()
            pose_opt.step()
            opt.zero_grad()
            pose_opt.zero_grad()
train(get_start(), get_batches())
"""


def test_one_path_does_not_show_what_others_reach() -> None:
    """It does show where it is cut."""
    one = replace(Limits(), paths=1)
    assert "TL403" not in {each.code for each in analyse(WARM_UP.replace("CUT", ""), "main.py", limits=one).diagnostics}
    cut = WARM_UP.replace("epoch < start", "False").replace("CUT", ".detach()")
    assert "TL304" in {each.code for each in analyse(cut, "main.py", limits=one).diagnostics}
