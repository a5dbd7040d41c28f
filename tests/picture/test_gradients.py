"""What is drawn of findings about gradients and about graphs that are held."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tapelint import analysis
from tapelint.picture import Picture, picture_at

HEAD = """\
import torch
from torch import nn
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
"""
ADDED = """
for x in torch.ones(3, 1, 3):
    net(x).sum().backward()
    opt.step()
"""
LOST = """
for x in torch.ones(3, 1, 3):
    net(x).sum().backward()
    opt.zero_grad()
    opt.step()
"""
EARLY = """
for x in torch.ones(3, 1, 3):
    opt.step()
    opt.zero_grad()
    net(x).sum().backward()
"""
CLIPPED = """
for x in torch.ones(3, 1, 3):
    opt.zero_grad()
    net(x).sum().backward()
    opt.step()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
"""
LEAKED = """
gen = nn.Linear(3, 3)
opt_g = torch.optim.SGD(gen.parameters(), lr=0.1)
for x in torch.ones(3, 1, 3):
    (net(gen(x).detach()) - net(x)).sum().backward()
    opt.step()
    opt.zero_grad()
    opt_g.zero_grad()
    (-net(gen(x))).sum().backward()
    opt_g.step()
"""
TOTAL = """
total = 0.0
for x in torch.ones(3, 1, 3):
    total = total + net(x).exp().sum()
print(total)
"""
LISTED = """
kept = []
for x in torch.ones(3, 1, 3):
    kept.append(net(x).exp().sum())
print(kept)
"""
CYCLE = """
def fit(x):
    z = torch.zeros(1, 3, requires_grad=True)
    for step in range(2):
        z.grad = None
        net(z).tanh().sum().backward(create_graph=True)
    return z.detach()

for x in torch.ones(3, 1, 3):
    fit(x)
"""
EVALUATED = """
net.eval()
for x in torch.ones(3, 1, 3):
    print(net(x).item())
"""


def drawn(program: str, code: str) -> Picture:
    """The picture of the only finding with a code."""
    report = analysis.analyse(HEAD + dedent(program), "a.py")
    [found] = [each for each in report.diagnostics if each.code == code]
    picture = picture_at(report, found.span.row, found.span.column)
    assert picture.title.startswith(code)
    return picture


def arrows(picture: Picture, relation: str) -> list[tuple[str, str, bool]]:
    """The titles of both ends, without backticks, and whether the arrow is marked."""
    titles = {node.number: node.title.replace("`", "") for node in picture.nodes}
    return [(titles[e.begin], titles[e.end], e.is_marked) for e in picture.edges if e.relation == relation]


def details(picture: Picture, kind: str) -> list[tuple[str, ...]]:
    return [node.details for node in picture.nodes if node.kind == kind]


GRAD = ".grad of net.weight and net.bias"
BACKWARD = "net(x).sum().backward()"


def test_a_gradient_that_is_used_twice() -> None:
    picture = drawn(ADDED, "TL401")
    assert picture.columns == ("iteration 1 of `for x`", "iteration 2 of `for x`")
    assert [(node.kind, node.column) for node in picture.nodes] == [
        ("pass", 0),
        ("step", 0),
        ("pass", 1),
        ("grad", 1),
        ("step", 1),
    ]
    assert arrows(picture, "fills") == [(BACKWARD, GRAD, True), (BACKWARD, GRAD, False)]
    assert arrows(picture, "uses") == [("opt.step()", GRAD, False), ("opt.step()", GRAD, True)]
    assert details(picture, "grad") == [("the sum of 2 backward passes", "a step has used 1 of that already")]


def test_a_gradient_that_is_lost() -> None:
    picture = drawn(LOST, "TL402")
    assert [node.kind for node in picture.nodes] == ["pass", "grad", "clear", "grad", "step"]
    assert arrows(picture, "clears") == [("opt.zero_grad()", GRAD, True)]
    assert details(picture, "grad") == [
        ("lost: cleared before a step has used it",),
        ("there is none: it was cleared",),
    ]


def test_a_step_that_comes_too_early() -> None:
    picture = drawn(EARLY, "TL403")
    assert [node.kind for node in picture.nodes] == ["grad", "step", "pass", "grad"]
    assert arrows(picture, "needs") == [("opt.step()", GRAD, True)]


def test_clipping_that_comes_too_late() -> None:
    picture = drawn(CLIPPED, "TL404")
    assert [node.kind for node in picture.nodes] == ["pass", "grad", "step", "clip"]
    assert details(picture, "grad") == [("of one backward pass", "a step has used all of that already")]


def test_gradients_of_another_loss() -> None:
    picture = drawn(LEAKED, "TL407")
    assert ("(-net(gen(x))).sum().backward()", GRAD, True) in arrows(picture, "fills")
    assert details(picture, "grad") == [("the sum of 2 backward passes", "1 of them is of another network's loss")]


@pytest.mark.parametrize(("program", "held"), [(TOTAL, 1), (LISTED, 3)])
def test_what_keeps_graphs(program: str, held: int) -> None:
    """A total holds the last sum, which leads to all; a list holds what each iteration has put into it."""
    picture = drawn(program, "TL105")
    holder = next(node for node in picture.nodes if node.kind == "holder")
    assert holder.is_marked and picture.columns[holder.column] == "after the loop"
    columns = {node.number: node.column for node in picture.nodes}
    assert len({columns[edge.end] for edge in picture.edges if edge.relation == "holds"}) == held
    titles = [node.title for node in picture.nodes]
    assert titles.count("ExpBackward0") == 3


def test_a_gradient_that_holds_its_leaf() -> None:
    picture = drawn(CYCLE, "TL106")
    assert {begin for begin, *_ in arrows(picture, "holds")} == {"z", ".grad of z"}
    assert [node.kind for node in picture.nodes if node.is_marked] == ["leaf", "pass", "holder"]


def test_what_an_evaluation_records() -> None:
    picture = drawn(EVALUATED, "TL406")
    marked = [node for node in picture.nodes if node.is_marked]
    assert len(marked) == 3 and {node.kind for node in marked} == {"operation"}
    assert any("No backward uses" in note for note in picture.notes)


def test_a_finding_about_modes_is_drawn_as_its_story() -> None:
    picture = drawn(
        """
        net = nn.Sequential(nn.Linear(3, 1), nn.Dropout(0.5))
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        net.train()
        for epoch in range(3):
            opt.zero_grad()
            net(torch.ones(1, 3)).sum().backward()
            opt.step()
            net.eval()
            net(torch.zeros(1, 3)).item()
        """,
        "TL409",
    )
    columns = {node.title: node.column for node in picture.nodes if node.kind == "moment"}
    assert list(columns) == ["runs in training mode", "switches to evaluation mode", "runs in evaluation mode"]
    training, switch, evaluation = columns
    assert columns[training] == columns[switch] < columns[evaluation]
    titles = {node.number: node.title for node in picture.nodes}
    then = [(titles[edge.begin], titles[edge.end]) for edge in picture.edges if edge.relation == "then"]
    assert sorted(then) == sorted([(training, switch), (switch, evaluation)])
