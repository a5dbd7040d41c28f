"""An analysis that goes on from the one before says exactly what a fresh one says, whatever was edited, and where."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tools.soak.edits import changed

from tapelint.analysis import AnalysisCache, Cancelled, Report, analyse
from tapelint.engine.limits import Limits
from tapelint.source import parse, reuse_tree

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))

LIBRARY = '''\
"""Nobody calls anything here but what is at the bottom."""
import torch
from torch import nn
import helpers

SCALE = 2

class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.seen = []

    def forward(self, x):
        y = self.first(x).exp()
        self.seen.append(y)
        return y

class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.total = 0

    def training_step(self, x):
        loss = helpers.penalty(self.model(x)).mean()
        self.total = self.total + loss
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def evaluate(self, loader):
        return [self.model(x) for x in loader]

def train(model, loader, optimizer):
    hidden = torch.zeros(3)
    for x in loader:
        hidden = model(x, hidden)
        if SCALE > 1:
            optimizer.zero_grad()
        hidden.sum().backward()
        optimizer.step()

def clip(model):
    for p in model.parameters():
        if p.grad is not None:
            p.grad.clamp_(-1, 1)

class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad

w = torch.ones(3, requires_grad=True)
y = w.exp()
y += 1
y.sum().backward()
'''
SCRIPT = '''\
"""Everything is called by what stands last."""
import torch
from torch import nn
import helpers

WIDTH = 4

class Meter:
    def __init__(self):
        self.total, self.count, self.seen = 0.0, 0, []

    def add(self, value):
        self.total += value
        self.count += 1
        self.seen.append(value)

def groups(model):
    decayed, plain = [], []
    for name, p in model.named_parameters():
        (plain if name.endswith("bias") else decayed).append(p)
    return [{"params": decayed}, {"params": plain}]

def epoch(model, opt, loader, number):
    meter, hidden = Meter(), torch.zeros(1, WIDTH)
    for index, (x, y) in enumerate(loader):
        out = helpers.penalty(model(x) + hidden)
        loss = (out - y).pow(2).mean() + model(x * 2).exp().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        hidden = out.mean(0, keepdim=True).detach()
        meter.add(loss.item())
        if index % 10 == 0:
            print(f"{number} {index}: {meter.total / meter.count}")
    return meter

def main(loader):
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, 1))
    opt = torch.optim.SGD(groups(model), lr=0.1)
    best, history = 0.0, []
    for number in range(epochs()):
        meter = epoch(model, opt, loader, number)
        history.append({"epoch": number + 1, "loss": meter.total})
        best = max(best, meter.total)
        if len(history) > 2:
            print(history[-1])
    while best > 1:
        best = best - helpers.penalty(torch.ones(3)).sum().item() - model(torch.ones(1, WIDTH)).sum().item()

if __name__ == "__main__":
    main(load())
'''
HELPERS = """\
import torch
from scales import SCALE

def penalty(x):
    x += SCALE
    return x.pow(2)
"""
FILES = {"helpers": HELPERS, "scales": "SCALE = 3\n"}
BLOCK = """\
for step in range(3):
    w = torch.ones(3, requires_grad=True)
    (w * w.exp().sin()).sum().backward()
"""


def resolve(module: str, importer: str) -> tuple[str, str] | None:
    return (f"{module}.py", FILES[module]) if module in FILES else None


def told(report: Report) -> object:
    """All that can be seen of a report; places in the tree as places in the text."""
    place = report.source.span
    findings = [
        (found.message, found.help, place(found.node), [(link.text, place(link.node)) for link in found.links])
        + tuple((cure.purpose, [place(node) for node in cure.targets]) for cure in found.cures)
        for found in report.findings.values()
    ]
    tree = ast.dump(report.source.tree, include_attributes=True)
    return report.diagnostics, report.stats, report.reach, report.imagined, findings, tree, report.notices


@st.composite
def edits(draw: st.DrawFn, text: str) -> list[str]:
    """A few texts, each made of the one before, or of the first, by an edit of one line."""
    chance = draw(st.randoms(use_true_random=False))
    found = [text]
    for _ in range(draw(st.integers(1, 4))):
        found.append(changed(draw(st.sampled_from([found[-1], text])), chance))
    return found[1:]


TEXTS = [LIBRARY, SCRIPT, *(path.read_text(encoding="utf-8") for path in EXAMPLES)]


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_incremental_equals_fresh(data: st.DataObject):
    text = data.draw(st.sampled_from(TEXTS))
    memory = AnalysisCache(persistent=True)
    analyse(text, "main.py", resolve=resolve, memory=memory)
    for edited in data.draw(edits(text)):
        again = analyse(edited, "main.py", resolve=resolve, memory=memory)
        assert told(again) == told(analyse(edited, "main.py", resolve=resolve))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_an_adopted_tree_is_the_tree_of_the_text(data: st.DataObject):
    text = data.draw(st.sampled_from(TEXTS))
    old = parse(text)
    for edited in data.draw(edits(text)):
        new = parse(edited)
        expected = ast.dump(new.tree, include_attributes=True)
        reuse_tree(old, new)
        assert ast.dump(new.tree, include_attributes=True) == expected
        old = new


def steps(text: str, edited: str, limits: Limits = Limits()) -> int:  # noqa: B008 (frozen)
    """How many steps of the machine an edit costs."""
    memory = AnalysisCache(persistent=True)
    analyse(text, "main.py", resolve=resolve, memory=memory, limits=limits)
    before = _counts(memory)
    analyse(edited, "main.py", resolve=resolve, memory=memory, limits=limits)
    return sum(count for step, count in _counts(memory).items() if step not in before)


def _counts(memory: AnalysisCache) -> dict[object, int]:
    found = [*memory.script, *(step for (kind, *_), step in memory.entries.items() if kind != "latent")]
    return {step: step.fuel_used for step in found}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def train(", "\n# how it is done\ndef train("),
        ('"""Nobody calls anything', '"""Nobody ever calls anything'),
        ("self.total = 0", "self.total  =  0  # so far"),
    ],
)
def test_editing_a_comment_executes_nothing(old: str, new: str):
    assert steps(LIBRARY, LIBRARY.replace(old, new)) == 0


def test_editing_an_uncalled_function_executes_it_alone():
    alone = steps(LIBRARY, LIBRARY.replace("hidden.sum()", "hidden.mean()"))
    assert 0 < alone < steps("", LIBRARY) / 2


def test_a_script_is_executed_from_the_edited_line():
    text = "import torch\n" + 60 * BLOCK
    assert 0 < steps(text, text + "w.exp()\n") < steps("", text) / 3
    assert steps(text, text.replace("import torch\n", "import torch\nx = 1\n")) > steps("", text) / 2


def test_editing_an_imported_file_invalidates_its_units(monkeypatch: pytest.MonkeyPatch):
    memory = AnalysisCache(persistent=True)
    analyse(LIBRARY, "main.py", resolve=resolve, memory=memory)
    monkeypatch.setitem(FILES, "helpers", HELPERS.replace("x += SCALE", "x = x + SCALE"))
    again = analyse(LIBRARY, "main.py", resolve=resolve, memory=memory)
    assert told(again) == told(analyse(LIBRARY, "main.py", resolve=resolve))


@pytest.mark.parametrize("after", [1, 2, 4, 8, 16])
def test_a_cancelled_analysis_leaves_valid_units(after: int):
    """``cancel`` is polled every 256 steps: it is given up after so many."""
    text = LIBRARY + 60 * BLOCK
    edited = text.replace("import helpers", "import helpers, scales")
    memory = AnalysisCache(persistent=True)
    polls = iter(range(1000))
    analyse(text, "main.py", resolve=resolve, memory=memory)
    try:
        analyse(edited, "main.py", cancel=lambda: next(polls) >= after, resolve=resolve, memory=memory)
    except Cancelled:
        pass
    assert told(analyse(edited, "main.py", resolve=resolve, memory=memory)) == told(
        analyse(edited, "main.py", resolve=resolve)
    )


CIRCLE = {
    "base": "import torch\nclass Base:\n    def f(self, x): return x.exp()\nimport derived\nX = derived.Derived\n"
    + 20 * BLOCK,
    "derived": "import base\nclass Derived(base.Base):\n    pass\n",
}
OF_A_CIRCLE = """\
import torch
import derived
from base import X
y = derived.Derived().f(torch.ones(3, requires_grad=True))
y += 1
y.sum().backward()
"""


@pytest.mark.parametrize("after", range(1, 12))
def test_a_cut_import_cycle_is_cut_as_a_whole(after: int):
    """``derived`` is done before ``base``, and holds what that has made by then."""

    def find(module: str, importer: str) -> tuple[str, str] | None:
        return (f"{module}.py", CIRCLE[module]) if module in CIRCLE else None

    text = OF_A_CIRCLE.replace("import derived\nfrom base import X", "from base import X\nimport derived")
    memory = AnalysisCache(persistent=True)
    polls = iter(range(1000))
    analyse("import torch\n", "main.py", resolve=find, memory=memory)
    try:
        analyse(text, "main.py", cancel=lambda: next(polls) >= after, resolve=find, memory=memory)
    except Cancelled:
        pass
    again = analyse(OF_A_CIRCLE, "main.py", resolve=find, memory=memory)
    assert [found.code for found in again.diagnostics] == ["TL201"]
    assert told(again) == told(analyse(OF_A_CIRCLE, "main.py", resolve=find))


CROWD = {
    "first": "import torch\nimport second\ndef f(x): return second.g(x).exp()\n",
    "second": "import torch\nimport first\nclass Base:\n    def go(self, x): return x.exp()\ndef g(x): return x + 1\n",
    "third": "from first import *\nfrom fourth import *\nimport second\nclass Own(second.Base): pass\nZ = h(f(1))\n",
    "fourth": "import torch\nimport third\ndef h(x):\n    x += 1\n    return x\n" + BLOCK,
    "fifth": "import third\nWIDTH = third.Z\n" + BLOCK + "def last(x): return third.Own().go(x)\n",
    "sixth": "def plain(n): return n + 1\n",
}
CROWDED = """\
import torch
from sixth import plain

def one(x):
    from first import f
    y = f(x)
    y += 1
    y.sum().backward()

def two(x):
    import third
    y = third.Own().go(x)
    third.h(y)
    y.sum().backward()

def three(x):
    import fifth
    from fourth import h
    y = h(fifth.last(x))
    y.sum().backward()

def four(x):
    from third import missing
    from second import Base, g
    y = Base().go(x)
    y *= missing(plain(2))
    g(y).sum().backward()

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        from third import h
        self.weight = torch.nn.Parameter(h(torch.ones(3)))

    def forward(self, x):
        import second
        y = second.Base().go(self.weight * x)
        return y.add_(1)

    def fit(self, x):
        self(x).sum().backward()

w = torch.ones(3, requires_grad=True)
one(w)
import second
four(w)
"""
COMPARISONS_PER_FUEL = ("from ", "import ", "one(w)", "four(w)")
OPTIONAL = [row for row, line in enumerate(CROWDED.split("\n")) if line.strip().startswith(COMPARISONS_PER_FUEL)][1:]


def thinned(away: frozenset[int]) -> str:
    """CROWDED without some of the lines that look into other files."""
    lines = CROWDED.split("\n")
    for row in away:
        lines[row] = lines[row][: len(lines[row]) - len(lines[row].lstrip())] + "pass"
    return "\n".join(lines)


def crowd(module: str, importer: str) -> tuple[str, str] | None:
    return (f"{module}.py", CROWD[module]) if module in CROWD else None


@settings(max_examples=50, deadline=None)
@given(
    texts=st.lists(st.frozensets(st.sampled_from(OPTIONAL)).map(thinned), min_size=2, max_size=5),
    characters=st.integers(50, 700),
    limit=st.integers(5, 60),
)
def test_incremental_equals_fresh_where_a_budget_is_spent(texts: list[str], characters: int, limit: int):
    """Which modules the budgets leave out depends on who asks first; an edit may change that for what stands below."""
    limits = Limits(import_characters=characters, module_fuel=limit, all_modules_fuel=3 * limit)
    memory = AnalysisCache(persistent=True)
    for text in texts:
        again = analyse(text, "main.py", resolve=crowd, memory=memory, limits=limits)
        assert told(again) == told(analyse(text, "main.py", resolve=crowd, limits=limits))


SHARING = """\
import torch

def first(x):
    y = x.exp()
    {}
    y += 1
    return y.sum()

def second(x):
    y = x.exp()
    z = {}
    y += 1
    return y.sum()
"""
LONG = f"[{', '.join(['x.sum() + 1'] * 100)}]"
"""An expression that takes more fuel than is used between two looks at what is left."""


@pytest.mark.parametrize("fuel", [400, 500, 700])
def test_what_an_imagined_caller_left_for_want_of_fuel_is_run_again_with_more(fuel: int):
    """Imagined callers share a budget: what the first function no longer takes is left for the second."""
    limits = Limits(latent_fuel=fuel, all_latent_fuel=fuel)
    memory = AnalysisCache(persistent=True)
    for text in (SHARING.format(LONG, LONG), SHARING.format("pass", LONG), SHARING.format(LONG, LONG)):
        again = analyse(text, "main.py", memory=memory, limits=limits)
        assert told(again) == told(analyse(text, "main.py", limits=limits))


CARRYING = """\
import torch
from torch import nn

class Loss(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = torch.zeros(3)

    def forward(self, scores: torch.Tensor):
        loss = (scores - self.last).pow(2).mean()
        self.last = scores.sigmoid()
        return loss

    def clear(self, x):
        {}
"""
APPLIED = """\
import torch

class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return {}
"""
ABSTRACT = """\
import torch
from torch import nn

class Base(nn.Module):
    def step(self, x):
        {}

    def fit(self, x):
        y = self.step(x)
        y += 1
        y.sum().backward()

class Own(Base):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 3)

    def step(self, x):
        return self.net(x).exp()
"""


@pytest.mark.parametrize(
    ("text", "one", "other"),
    [
        (CARRYING, "pass", "self.last = x"),
        (APPLIED, "None", "gradient * ctx.factor"),
        (ABSTRACT, "raise NotImplementedError", "return x"),
    ],
)
def test_an_edit_of_a_method_that_is_read_but_not_executed(text: str, one: str, other: str):
    fresh = {way: told(analyse(text.format(way), "main.py")) for way in (one, other)}
    for first, second in ((one, other), (other, one)):
        memory = AnalysisCache(persistent=True)
        analyse(text.format(first), "main.py", memory=memory)
        assert told(analyse(text.format(second), "main.py", memory=memory)) == fresh[second]


def test_modules_beyond_the_budget_cost_nothing_after_an_edit():
    limits = Limits(import_characters=len(HELPERS) - 1)
    assert steps(LIBRARY, LIBRARY.replace("def train(", "# how it is done\ndef train("), limits) == 0
    alone = steps(LIBRARY, LIBRARY.replace("hidden.sum()", "hidden.mean()"), limits)
    assert 0 < alone < steps("", LIBRARY, limits) / 2


def test_editing_a_module_beyond_the_budget(monkeypatch: pytest.MonkeyPatch):
    limits = Limits(import_characters=len(HELPERS) - 1)
    memory = AnalysisCache(persistent=True)
    analyse(LIBRARY, "main.py", resolve=resolve, memory=memory, limits=limits)
    monkeypatch.setitem(FILES, "helpers", HELPERS.replace("x += SCALE", "x *= 2"))
    again = analyse(LIBRARY, "main.py", resolve=resolve, memory=memory, limits=limits)
    assert told(again) == told(analyse(LIBRARY, "main.py", resolve=resolve, limits=limits))


EITHER = {
    "a": "from b import f\nF = f\n",
    "b": "import torch\nimport a\ndef f(x): return x.exp()\nG = a.F\n",
}
WHICHEVER = """\
import torch

def one(x):
    import a
    a.F(x).sum().backward()

def two(x):
    import b
    y = b.G(torch.ones(3, requires_grad=True))
    y += 1
    y.sum().backward()
"""


def test_an_import_cycle_entered_at_another_module():
    """``b.G`` is known only if ``b`` is asked for before ``a``."""

    def find(module: str, importer: str) -> tuple[str, str] | None:
        return (f"{module}.py", EITHER[module]) if module in EITHER else None

    memory = AnalysisCache(persistent=True)
    for text in (WHICHEVER, WHICHEVER.replace("import a\n    a.F(x)", "x"), WHICHEVER):
        again = analyse(text, "main.py", resolve=find, memory=memory)
        assert told(again) == told(analyse(text, "main.py", resolve=find))


EVERY = """\
import argparse, torch

parser = argparse.ArgumentParser()
parser.add_argument("--every", type=int, default=17)
args = parser.parse_args()
w = torch.ones(3, requires_grad=True)
for step in range(100):
    loss = (w * 2).exp().sin().cos().tanh().sigmoid().exp().sin().cos().sum()
    loss.backward()
    w.grad = None
    if (step + 1) % args.every == 0:
        print(loss.item(), loss.exp().item(), loss.sin().item(), loss.cos().item(), loss.tanh().item())
"""


def test_an_analysis_does_not_depend_on_those_before_it():
    """A test of an option decides by the number of an iteration, and that is seen each time it is decided."""
    assert told(analyse(EVERY)) == told(analyse(EVERY))
