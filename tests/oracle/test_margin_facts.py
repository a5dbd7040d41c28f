"""What is said above and behind single lines, asked of real PyTorch: every number, name and version."""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import torch
from test_hover_facts import BLOCKS, EXPRESSIONS, SETUP

from tapelint.analysis import analyse
from tapelint.hover import Hovers, Remark, assignments, backwards, steps

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.py"))
NETWORKS = """
nn.Linear(4, 4)
nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4, bias=False))
nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.Dropout(0.1), nn.BatchNorm1d(4), nn.PReLU())
nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4, elementwise_affine=False), nn.BatchNorm1d(4, affine=False))
nn.LSTM(4, 4)
nn.LSTM(4, 4, num_layers=2, bidirectional=True)
nn.GRU(4, 4, bias=False)
nn.TransformerEncoderLayer(4, 2, 8)
nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2)
nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])[0]
nn.utils.parametrizations.weight_norm(nn.Linear(4, 4))
nn.utils.parametrizations.spectral_norm(nn.Linear(4, 4))
nn.utils.weight_norm(nn.Linear(4, 4))
nn.utils.spectral_norm(nn.Linear(4, 4))
nn.Sequential(nn.LazyLinear(4), nn.Linear(4, 4))
nn.LSTM(4, 4, proj_size=2)
nn.RNN(4, 4, num_layers=3)
nn.Sequential(nn.Unflatten(1, (1, 4)), nn.Conv1d(1, 2, 3, padding=1), nn.GroupNorm(2, 2), nn.Flatten(), nn.Linear(8, 4))
nn.Sequential(*[nn.Sequential(nn.Linear(4, 4), nn.GELU()) for _ in range(3)])
nn.Sequential(*[nn.Linear(4, 4) for _ in range(14)])
Stacked()
Tied()
Holding()
"""
TRAINING = """\
import torch
from torch import nn
class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
        self.b.weight = self.a.weight
    def forward(self, x):
        return self.b(self.a(x))
class Holding(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(4))
        self.unused = nn.Linear(4, 4)
        self.all = nn.ParameterList([nn.Parameter(torch.ones(4)) for _ in range(3)])
        self.register_buffer("mean", torch.zeros(4))
    def forward(self, x):
        return (x - self.mean) * self.scale + self.all[0]
class Stacked(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.layers = nn.ModuleList()
        for _ in range(12):
            self.layers.append(self.first)
    def forward(self, x):
        for layer in self.layers:
            x = layer(x).exp().log()
        return x
net = NETWORK
optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
for step in range(3):
    made = net(torch.randn(5, 4))
    loss = (made[0] if isinstance(made, tuple) else made).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
LOOPING = """\
import torch
x = torch.ones(3, requires_grad=True)
y = x
for step in range(40):
    y = y.sin()
y.sum().backward()
weights = [torch.ones(3, requires_grad=True) for _ in range(30)]
sum((weight.exp().sum() for weight in weights), torch.zeros(())).backward()
"""
PLAIN = """\
import torch
x, w = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
y = x.exp() * w
z = y.sin() + y
z.sum().backward()
(x * 2).sum().backward(retain_graph=True)
torch.autograd.grad((x * w).sum(), x)
"""
PARAMETRIZED = """\
import torch
from torch import nn
from torch.nn.utils import parametrizations as made, prune
usual = made.weight_norm(nn.Linear(3, 2)).weight
older = nn.utils.weight_norm(nn.Linear(3, 2)).weight
along = made.weight_norm(nn.Conv2d(3, 2, 2), dim=1).weight
whole = made.weight_norm(nn.Linear(3, 2), dim=None).weight
sigma = made.spectral_norm(nn.Linear(3, 2)).weight
turned = made.orthogonal(nn.Linear(3, 2)).weight
square = made.orthogonal(nn.Linear(3, 3)).weight
pruned = prune.l1_unstructured(nn.Linear(3, 2), "weight", 0.5).weight
"""
CAUGHT = """\
import torch
x, w = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
before = x.sin()
unseen = eval("torch.exp")(w)
unseen.sum().backward()
try:
    (unseen * before).sum().backward()  # raises before it comes to x
except RuntimeError:
    pass
(x * 2).sum().backward()
"""
PROGRAMS = [
    PARAMETRIZED,
    CAUGHT,
    *(TRAINING.replace("NETWORK", network) for network in NETWORKS.strip().split("\n")),
    *(f"{SETUP}v = {each}\n" for row in EXPRESSIONS.split("\n") for each in row.split(" | ") if each),
    *(f"{SETUP}{block}\n" for block in BLOCKS.strip().split("\n\n")),
    *(path.read_text(encoding="utf-8") for path in EXAMPLES),
]


class Recorder(ast.NodeTransformer):
    """Hands what each assignment to a name or attribute binds to ``saw``."""

    def _recorded(self, node: Any) -> Any:
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if not isinstance(target, (ast.Name, ast.Attribute)):
            return node
        value = ast.parse(ast.unparse(target), mode="eval").body
        call = ast.Expr(ast.Call(ast.Name("saw__", ast.Load()), [ast.Constant(node.lineno), value], []))
        return [node, ast.fix_missing_locations(ast.copy_location(call, node))]

    visit_Assign = visit_AnnAssign = visit_AugAssign = _recorded


class Seen:
    """What PyTorch did in each row of a program."""

    def __init__(self) -> None:
        self.bound: dict[int, list[str]] = defaultdict(list)
        self.ran: dict[int, list[int]] = defaultdict(list)
        self.filled: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self.stepped: dict[int, list[tuple[int, int]]] = defaultdict(list)

    def saw(self, row: int, value: object) -> None:
        if isinstance(value, torch.Tensor) and value.requires_grad and value.grad_fn is not None:
            self.bound[row].append(f"grad_fn={type(value.grad_fn).__name__}, version {value._version}")
        elif isinstance(value, torch.Tensor):
            self.bound[row].append("none")


def row_of_program() -> int:
    frame = sys._getframe()
    while frame is not None and frame.f_code.co_filename != "<program>":
        frame = frame.f_back
    return frame.f_lineno if frame is not None else 0


def graph(roots: list[Any]) -> list[Any]:
    """The nodes that a backward from ``roots`` runs."""
    found: dict[Any, None] = {}
    waiting = [root for root in roots if root is not None]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found[node] = None
            waiting += [onward for onward, _ in node.next_functions if onward is not None]
    return [*found]


def executed(text: str, patch: pytest.MonkeyPatch) -> Seen:
    """Run a program in PyTorch, up to its error if it has one."""
    seen = Seen()
    backward, grad = torch.autograd.backward, torch.autograd.grad

    def nodes(tensors: Any) -> list[Any]:
        given = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
        return graph([tensor.grad_fn for tensor in given])

    def watched_backward(tensors: Any, *args: Any, **kwargs: Any) -> None:
        row, found = row_of_program(), nodes(tensors)
        variables = [node.variable for node in found if hasattr(node, "variable")]
        roots = [tensors] if isinstance(tensors, torch.Tensor) else [*tensors]
        leaves = [*variables, *(root for root in roots if root.grad_fn is None)]
        if kwargs.get("inputs"):
            given = kwargs["inputs"]
            leaves = [given] if isinstance(given, torch.Tensor) else [*given]
        before = [leaf.grad is not None for leaf in leaves]
        backward(tensors, *args, **kwargs)
        seen.ran[row].append(len(found) - len(variables))
        seen.filled[row].append((before.count(False), before.count(True)))

    def watched_grad(outputs: Any, *args: Any, **kwargs: Any) -> Any:
        seen.ran[row_of_program()].append(len([node for node in nodes(outputs) if not hasattr(node, "variable")]))
        return grad(outputs, *args, **kwargs)

    def watched_step(kind: Any) -> Any:
        own = kind.step

        def stepped(self: Any, *args: Any, **kwargs: Any) -> Any:
            owned = [parameter for group in self.param_groups for parameter in group["params"]]
            held = [parameter.grad is not None for parameter in owned]
            result = own(self, *args, **kwargs)
            changed = held.count(True)
            seen.stepped[row_of_program()].append((changed, len(owned) - changed))
            return result

        return stepped

    patch.setattr(torch.autograd, "backward", watched_backward)
    patch.setattr(torch.autograd, "grad", watched_grad)
    for kind in (torch.optim.Adam, torch.optim.SGD, torch.optim.AdamW):
        patch.setattr(kind, "step", watched_step(kind))
    tree = ast.fix_missing_locations(Recorder().visit(ast.parse(text)))
    torch.manual_seed(0)
    torch.set_grad_enabled(True)
    try:
        exec(compile(tree, "<program>", "exec"), {"__name__": "__main__", "saw__": seen.saw})
    except (RuntimeError, SystemExit):
        pass  # the program's own error, which the analysis predicts
    return seen


def numbers(remark: Remark, pattern: str) -> int:
    found = re.search(pattern, remark.text)
    return int(found[1]) if found else 0


def judge(text: str, patch: pytest.MonkeyPatch) -> int:
    """Compare all that is said of a program with PyTorch; how much that is. A row that PyTorch never ran claims
    nothing.
    """
    hovers, seen, said = Hovers(analyse(text)), executed(text, patch), 0
    for remark in hovers.remarks(assignments):
        for bound in seen.bound[remark.span.end_row] or seen.bound[remark.span.row]:
            said += 1
            assert bound.startswith(remark.text), (remark, bound)
    for remark in hovers.remarks(backwards):
        row = remark.span.row
        for count in seen.ran[row]:
            said += 1
            assert numbers(remark, r"graph of (\d+)") <= count, (remark, count)
        for filled in seen.filled[row]:
            claimed = numbers(remark, r"fills `.grad` of (\d+)"), numbers(remark, r"adds to `.grad` of (\d+)")
            assert claimed in ((0, 0), filled), (remark, filled)
    for remark in hovers.remarks(steps):
        for stepped in seen.stepped[remark.span.row]:
            said += 1
            assert (numbers(remark, r"writes (\d+)"), numbers(remark, r", (\d+) without")) == stepped, (remark, stepped)
    return said


@pytest.mark.parametrize("text", PROGRAMS, ids=range(len(PROGRAMS)))
def test_what_is_said_of_lines_is_true(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    judge(text, monkeypatch)


def test_most_of_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would all be true of nothing, too."""
    assert sum(judge(TRAINING.replace("NETWORK", each), monkeypatch) for each in NETWORKS.strip().split("\n")[:4]) >= 24


def test_operations_of_the_program_are_counted_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = executed(PLAIN, monkeypatch)
    remarks = {
        remark.span.row: numbers(remark, r"graph of (\d+)") for remark in Hovers(analyse(PLAIN)).remarks(backwards)
    }
    assert remarks == {row: counts[0] for row, counts in seen.ran.items()}


def test_what_a_loop_builds_is_not_counted() -> None:
    """Not every iteration is executed."""
    assert Hovers(analyse(LOOPING)).remarks(backwards) == ()


def test_the_names_of_computed_parameters_are_known() -> None:
    rows = [remark.span.row for remark in Hovers(analyse(PARAMETRIZED)).remarks(assignments)]
    assert rows == [4, 5, 8, 11]


def test_the_usual_dimension_of_a_weight_norm_may_be_spelled_out() -> None:
    text = PARAMETRIZED.replace("dim=None", "dim=0")
    assert 7 in [remark.span.row for remark in Hovers(analyse(text)).remarks(assignments)]
