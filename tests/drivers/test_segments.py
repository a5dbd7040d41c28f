"""A segment of the script may end inside a function; after an edit below it, execution resumes there."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.test_incremental import SCRIPT, edits, resolve, steps, told

from tapelint.analysis import AnalysisCache, analyse
from tapelint.engine.limits import Limits
from tapelint.source import notebook

DEEP = """\
import torch
from torch import nn
import helpers

class Trainer:
    def __init__(self, model, rate):
        self.model, self.seen = model, []
        self.opt = torch.optim.SGD(model.parameters(), lr=rate)

    def fit(self, data):
        for x in data:
            loss = helpers.penalty(self.model(x)).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.seen.append(loss)
        return self.seen

def build(width, deep=False):
    if deep:
        model = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))
    elif width > 4:
        model = nn.Linear(width, 1)
    else:
        model = nn.Linear(4, 1)
    return model

def options(argv):
    rate = 0.1 if argv else 0.2
    flag = argv == "slow"
    return rate, flag

def run(data, rate, flag):
    w = torch.ones(4, requires_grad=True)
    y = w.exp()
    model = build(4, deep=True)
    if flag:
        y += 1
    trainer = Trainer(model, rate)
    with torch.no_grad():
        before = model(torch.ones(1, 4))
    if flag is None:
        return None
    seen = trainer.fit(data)
    total = sum(seen)
    def later():
        return y.sum() + w.sum()
    later().backward()
    return total

def main(argv=None):
    global result
    rate, flag = options(argv)
    data = load(4)
    result = run(data, rate, flag)
    print(f"{result}")
    result.backward()
    return result

if __name__ == "__main__":
    if __debug__:
        torch.manual_seed(0)
    last = main(unknown())
    last.sum().backward()
    print(last)
"""
AGAIN = """\
import torch

CALLS = []

def noted(function):
    CALLS.append(function)
    return function

@noted
def make(n):
    w = torch.ones(n, requires_grad=True)
    if n > 1:
        made = make(n - 1)
        w = w + made.sum()
    y = w.exp()
    return y

@torch.no_grad()
def frozen(n):
    x = torch.ones(n, requires_grad=True)
    z = x.exp()
    return z

def down(tree):
    first = torch.ones(2, requires_grad=True)
    parts = down(tree)
    out = first.exp()
    out += 1
    return out

def main(n):
    y = make(n)
    z = frozen(n)
    y.sum().backward()
    if maybe(n):
        y = z
    elif perhaps:
        y = y + z
    out = down(guess())
    return y

def double(y):
    z = y * 2
    return z

def nested(n):
    w = torch.ones(n, requires_grad=True)
    if n < 1:
        return w
    kept = double(nested(n - 1))
    if n > 1:
        spoiled = w.exp()
        spoiled += 1
        spoiled.sum().backward()
    return kept + w.exp()

x = main(2)
t = nested(2)
t.sum().backward()
y = main(3)
y.sum().backward()
main(1).backward()
x.sum().backward()
def chain():
    yield main(2)
for each in chain():
    each.sum().backward()
t: torch.Tensor = main(2)
"""
RAISES = """\
import torch

def broken(x):
    y = x.exp()
    y += 1
    y.sum().backward()
    return y

def sometimes(x):
    y = x * 2
    if guess():
        raise ValueError("no")
    z = y.exp()
    if other():
        return z
    return y

def main():
    w = torch.ones(3, requires_grad=True)
    v = sometimes(w)
    v.sum().backward()
    try:
        broken(w)
    except RuntimeError:
        print("caught")
    v += 1
    u = broken(w)
    print("never")

def after():
    w = torch.ones(3, requires_grad=True)
    y = w.exp()
    y += 1
    y.sum().backward()

if maybe:
    print("both")
else:
    main()
main()
after()
"""

INSIDE = """\
import torch

def double(y):
    return y * 2

def nested(n):
    w = torch.ones(n, requires_grad=True)
    if n < 1:
        return w
    kept = double(nested(n - 1))  # what is given to it calls it, too
    if n > 1:
        y = w.exp()
        y += 1
        y.sum().backward()
    return kept + w

t = nested(2)
"""
LOOPS = """\
import torch
from torch import nn

class Meter:
    def __init__(self):
        self.total, self.seen = 0.0, []

    def add(self, value):
        self.total += value
        self.seen.append(value)

def batches(loader, number):
    for index, x in enumerate(loader):
        if index == 2:
            break
        yield x * number

def epoch(model, opt, loader, number, meter):
    memory = []
    for index, x in enumerate(loader):
        if index % 2:
            continue
        out = model(x)
        memory.append(out)
        loss = out.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        meter.add(loss.item())
        if len(memory) >= 4:
            return memory[0]
    else:
        meter.add(0)
    return meter

def check(model, loader):
    worst, kept = 0.0, []
    for x in loader:
        for part in (x, 2 * x):
            kept.append(model(part))
            if kept[-1].sum() > worst:
                worst = kept[-1].sum()
                break
        print(worst)
    return kept

def main(loader):
    model = nn.Linear(4, 1)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    meter, carried = Meter(), torch.zeros(1)
    for number in range(epochs()):
        first = epoch(model, opt, loader, number, meter)
        kept = check(model, loader)
        carried = carried + kept[0].mean()
        for x in batches(loader, number):
            total = model(x).sum()
        if number == 1:
            carried = carried.detach()
        carried.backward()
        try:
            for x in loader:
                total.backward()
        except RuntimeError:
            break
        while meter.total > 1:
            meter.total = meter.total - 1
    return kept

for seed in [1, 2]:
    torch.manual_seed(seed)
    last = main(load(seed))
    if seed > 1:
        last[0].sum().backward()
for p in nn.Linear(2, 2).parameters():
    p.requires_grad_(False)
    print(p)
"""
TEXTS = [DEEP, AGAIN, RAISES, INSIDE, LOOPS, SCRIPT]


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_resuming_in_the_middle_equals_fresh(data: st.DataObject):
    text = data.draw(st.sampled_from(TEXTS))
    limits = Limits(
        segment_fuel=data.draw(st.sampled_from([1, 25, 500])),
        segment_share=data.draw(st.sampled_from([4, 10_000])),
        script_fuel=data.draw(st.sampled_from([100, 300, 80_000])),
    )
    memory = AnalysisCache(persistent=True)
    analyse(text, "main.py", resolve=resolve, memory=memory, limits=limits)
    for edited in data.draw(edits(text)):
        again = analyse(edited, "main.py", resolve=resolve, memory=memory, limits=limits)
        assert told(again) == told(analyse(edited, "main.py", resolve=resolve, limits=limits))


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_segment_boundaries_do_not_matter(data: st.DataObject):
    text = data.draw(st.sampled_from(TEXTS))
    (edited, *_) = data.draw(edits(text))
    found = []
    for size in (1, 10**9):
        limits = Limits(segment_fuel=size, segment_share=10_000)
        memory = AnalysisCache(persistent=True)
        report = analyse(edited, "main.py", resolve=resolve, memory=memory, limits=limits)
        report.stats["steps"] = 0  # how long paths are compared depends on when they were forked
        found.append(told(report))
    assert found[0] == found[1]


def test_a_nested_call_is_another_program_point():
    assert [found.code for found in analyse(INSIDE, "main.py").diagnostics] == ["TL201"]


LONG = f"""\
import torch

def first():
    for step in range(3):
        w = torch.ones(3, requires_grad=True)
        {"(w * w.exp().sin()).sum().backward(); " * 30}

def second():
    return 1

def third(n):
    for step in range(n):
        first()
        print("first")
        first()
        print("middle")
        first()
        first()
        print("last of an iteration")

class Late:
    def __init__(self):
        self.rate = 1

def run(n):
    first()
    first()
    late = Late()
    if n > 1:
        first()
        print("last of the if")
    return second()

def main():
    first()
    first()
    n = run(2)
    third(n)
    print(n)

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("old", "new", "most"),
    [
        ("print(n)", "print(n + 1)", 0.2),
        ("print(n)", "print(n)\n    print(1)", 0.2),
        ('print("last of an iteration")', 'print("last")', 0.5),
        ('print("middle")', "pass", 0.7),
        ("self.rate = 1", "self.rate = 2", 0.7),
        ("run(2)", "run(3)", 0.8),
        ("w.exp().sin()", "w.sin()", 1.1),
    ],
)
def test_an_edit_costs_what_follows_it(old: str, new: str, most: float):
    edited = LONG.replace(old, new)
    assert 0 < steps(LONG, edited) < steps("", edited) * most


def test_cells_that_run_once_more_keep_their_paths() -> None:
    """They have no share of fuel, of which half could be used."""
    cells = (
        "import torch, lib\nw = torch.ones(3, requires_grad=True)\n",
        "for x in lib.data():\n    y = w * x\n    if lib.flag:\n        y = y.exp()\n    y.sum().backward()\n",
    )
    document = {
        "cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in cells],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    report = analyse(notebook(json.dumps(document)), "study.ipynb")
    assert report.stats["faults"] == 0 and not report.notices
