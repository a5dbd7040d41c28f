"""Errors of the program, and numbers beyond all limits, end its path and never the analysis.

Each statement stands in a function that nothing calls, so that a fault of the engine in one of them would be counted.
"""

from __future__ import annotations

import pytest

from tapelint.analysis import Report, analyse
from tapelint.severity import Severity

BEFORE = """
import functools, itertools, queue
from collections import deque
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x)

class Layers(nn.ModuleList):
    pass

w = torch.ones(3, requires_grad=True)
"""

TOO_FEW = [
    "[1].append()",
    "[1].insert(0)",
    "[1].append(k=w)",
    "deque([1]).appendleft()",
    "{1}.add(*[])",
    "queue.Queue().put()",
    "filter()",
    "filter(None)",
    "map()",
    "min(key=len)",
    "slice()",
    "slice(1, 2, 3, 4)",
    "itertools.chain.from_iterable()",
    "torch.autograd.Function.apply()",
    "torch.autograd.function.FunctionCtx.save_for_backward()",
    "torch.autograd.function.FunctionCtx.mark_dirty()",
    "torch.optim.Optimizer.zero_grad()",
    "torch.optim.Optimizer.__init__()",
    "torch.distributions.Normal.icdf()",
    "Net.__call__()",
]
DOUBLED = [
    ("'ab'", "s + s"),
    ("'ab'", "f'{s}{s}'"),
    ("'ab'", "'%s' % (s + s)"),
    ("(1, 2)", "s + s"),
    ("[1, 2]", "s + s"),
    ("(1, 2)", "(*s, *s)"),
    ("[1, 2]", "[*s, *s]"),
    ("[1, 2]", "(s, s.extend(s))[0]"),
    ("[1, 2]", "(s, s.__iadd__(s))[0]"),
]
HUGE = [
    "[w] * 10**20",
    "[0] * 10**13",
    "1 << 10**13",
    "int(float('inf'))",
    "int(float('nan'))",
    "list(range(10**20))",
    "[i for i in range(10**20)]",
    "list(range(10**20, 0, -3))",
    "'a'.replace('a', 'b', -(10**20))",
    "list(enumerate([w], 2**50))",
    "10**10**10",
    "'a' * 10**12",
    "round(5, -(10**9))",
    "'%1000000000d' % 5",
    "'%.1000000000f' % 1.5",
    "b'%1000000000d' % 5",
    "f'{0x" + "f" * 5000 + "}'",
    "(s := (1, 2))" + " and (s := (s, s))" * 30 + " and {s: 1}[s]",
    *(f"(s := {first})" + f" and (s := {doubled})" * 40 for first, doubled in DOUBLED),
]
NO_FORWARD = [
    "nn.ModuleDict({'a': nn.Linear(3, 3)})(w)",
    "nn.ModuleDict({'a': nn.Linear(3, 3)}).__call__(w)",
    "nn.ModuleList([nn.Linear(3, 3)])(w)",
    "Layers([nn.Linear(3, 3)])(w)",
    "Net.__call__(w)",
    "nn.Linear.__call__(3)",
    "nn.Module.forward(zip([1], [w]))",
    "nn.Linear.parameters(w)",
]
IN_ITSELF = [
    f"held = []; held.append(held); {use}"
    for use in (
        "torch.stack(held)",
        "torch.cat([held, w])",
        "torch.tensor(held)",
        "torch.autograd.backward(held)",
        "torch.func.vmap(torch.exp)(held)",
        "w.view(held)",
    )
] + [
    "held = [w]; held = (x for x in held); list(held)",
    "net = nn.Sequential(nn.Linear(3, 3)); net.append(net); net(w)",
]
ODD_SIZES = ["torch.conv_transpose1d(torch.ones(3), w)"]


def check(*statements: str) -> Report:
    functions = [f"\ndef case_{index}():\n    {statement}\n" for index, statement in enumerate(statements)]
    return analyse(BEFORE + "".join(functions))


@pytest.mark.parametrize("statement", [*TOO_FEW, *HUGE, *NO_FORWARD, *IN_ITSELF, *ODD_SIZES])
def test_errors_of_the_program_are_no_faults(statement: str) -> None:
    assert check(statement).stats["faults"] == 0


@pytest.mark.parametrize(
    "statement",
    [
        "held = [None] * 100; held[80] = w.exp().sum(); held[80].backward()",
        "deque([], 2).append(w); y = w.exp().sum(); y.backward()",
    ],
)
def test_refused_calls_report_nothing(statement: str) -> None:
    assert not check(statement).diagnostics


AGAIN = "y.backward()\n    y.backward()"


@pytest.mark.parametrize(
    "made",
    [
        "net = Net(); y = Net.__call__(net, w).sum()",
        "net = Net(); y = nn.Module.__call__(net, w).sum()",
        "kept = queue.Queue(); kept.put(item=w.exp().sum()); y = kept.get()",
        "kept = queue.Queue(); kept.put(w.exp().sum(), False); y = kept.get()",
        "kept = [w.exp().sum()] * 100; y = kept[70]",
    ],
)
def test_the_result_keeps_its_graph(made: str) -> None:
    """The graph is come to through what used to be taken for something else: walking it twice is an error."""
    found = check(f"{made}\n    {AGAIN}").diagnostics
    assert [(each.code, each.severity) for each in found] == [("TL101", Severity.ERROR)]


def test_calling_the_base_class_runs_forward() -> None:
    """``super().__call__`` runs the program's own ``forward``, of which everything is known."""
    program = """
class Doubled(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def __call__(self, x):
        return super().__call__(x) * 2

    def forward(self, x):
        return self.layer(x)

y = Doubled()(w).sum()
y.backward()
y.backward()
"""
    found = analyse(BEFORE + program).diagnostics
    assert [(each.code, each.severity) for each in found] == [("TL101", Severity.ERROR)]


def test_int_with_a_base() -> None:
    program = """
y = w.exp().sum()
y.backward()
if int("11", 2) == 11:
    y.backward()
"""
    assert not analyse(BEFORE + program).diagnostics


def test_a_base_class_made_by_a_metaclass() -> None:
    program = """
class Kind(type):
    pass

Made = Kind("Made", (), {})

class Own(Made):
    def size(self):
        return self.weight.abs().max().detach()
"""
    assert analyse(BEFORE + program).stats["faults"] == 0


SEARCH = """import torch
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

search = GridSearchCV(SVC(), {"C": [1, 10]})
search.fit([[1], [2]], [0, 1])
print(search.predict([[1]]), search.best_params_)
loss = torch.ones(3, requires_grad=True).exp().sum()
loss.backward()
loss.backward()
"""


def test_what_stands_for_a_library_may_lack_what_the_library_has() -> None:
    report = analyse(SEARCH, "train.py", resolve=lambda *_: None)
    assert [each.code for each in report.diagnostics] == ["TL101"]
