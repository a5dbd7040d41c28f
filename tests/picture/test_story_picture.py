"""The picture of a finding whose event is about no single graph: the steps of its story, and the tensors of each."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from tapelint import analysis
from tapelint.picture import Picture, picture_at
from tapelint.picture.story_picture import parts

VECTOR = """
    import torch
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    y.backward()
"""
CUT = """
    import torch
    w = torch.ones(3, requires_grad=True)
    y = (w * 2).detach().requires_grad_()
    torch.autograd.grad(y.sum(), w)
"""
WRAPPED = """
    import torch
    alpha = torch.tensor(0.0, requires_grad=True)
    opt = torch.optim.SGD([torch.nn.Parameter(alpha)], lr=0.1)
    for step in range(3):
        loss = (alpha - 1) ** 2
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
COUNTED = """
    import torch
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, k):
            ctx.save_for_backward(x)
            return x * k
        @staticmethod
        def backward(ctx, grad):
            return grad * 2
    w = torch.ones(3, requires_grad=True)
    Scale.apply(w, 2).sum().backward()
"""
UNSET = COUNTED.replace("grad * 2", "grad * ctx.k, None")
COPY = """
    import torch
    w = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(w.parameters(), 0.1)
    before = list(w.parameters())[0]
    w(torch.ones(2, 3)).sum().backward()
    opt.step()
    print(torch.equal(before, list(w.parameters())[0]))
"""
NEVER_ENTERED = """
    from contextlib import nullcontext
    import torch
    net = torch.nn.Linear(3, 1)
    with torch.no_grad() and nullcontext():
        y = net(torch.randn(4, 3)).mean()
    y.backward()
"""
LISTED = """
    import torch
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = []
            self.hidden.append(torch.nn.Linear(4, 4))
            self.out = torch.nn.Linear(4, 1)
        def forward(self, x):
            return self.out(self.hidden[0](x))
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(3):
        opt.zero_grad()
        net(torch.randn(2, 4)).mean().backward()
        opt.step()
"""


def pictured(program: str, code: str) -> Picture:
    """The picture of the finding ``code`` of a program."""
    report = analysis.analyse(dedent(program).lstrip("\n"), "a.py")
    [row] = {found.span.row for found in report.diagnostics if found.code == code}
    return picture_at(report, row)


def arrows(picture: Picture, relation: str) -> set[tuple[str, str]]:
    titles = {node.number: node.title for node in picture.nodes}
    return {(titles[edge.begin], titles[edge.end]) for edge in picture.edges if edge.relation == relation}


def test_a_step_uses_the_graph_that_its_tensor_has() -> None:
    picture = pictured(VECTOR, "TL307")
    made = "computed, not a scalar"
    assert arrows(picture, "gives") == {(made, "MulBackward0 → `y`")}
    assert arrows(picture, "uses") == {(made, "`x`"), ("not a scalar", "MulBackward0 → `y`")}
    assert arrows(picture, "then") == {(made, "not a scalar")}
    assert not picture.notes


def test_a_tensor_before_and_after_it_is_detached() -> None:
    picture = pictured(CUT, "TL311")
    assert ("the graph is cut", "MulBackward0") in arrows(picture, "uses")
    assert ("the graph is cut", "`y`") in arrows(picture, "gives")
    assert ("MulBackward0", "`y`") not in arrows(picture, "input")


def test_what_an_optimizer_holds_and_what_the_loss_uses() -> None:
    picture = pictured(WRAPPED, "TL320")
    leaves = {node.title for node in picture.nodes if node.kind == "leaf"}
    assert leaves == {"`alpha`", "`torch.nn.Parameter(alpha)`"}
    assert ("`alpha`", "SubBackward0") in arrows(picture, "input")


def test_a_context_manager_is_drawn_with_what_its_block_computes() -> None:
    picture = pictured(NEVER_ENTERED, "TL313")
    assert ("`net(torch.randn(4, 3)).mean()`", "MeanBackward0 → `y`") in arrows(picture, "gives")
    [made] = [node.number for node in picture.nodes if node.title.startswith("`net(")]
    [reported] = [node.number for node in picture.nodes if node.is_marked]
    assert reported < made


def test_the_place_of_a_finding_stands_where_it_was() -> None:
    """TL320 is reported where the other Parameter is made, before what its story tells."""
    numbers = [node.number for node in pictured(WRAPPED, "TL320").nodes if node.is_marked or node.kind == "pass"]
    picture = pictured(WRAPPED, "TL320")
    assert picture.nodes[numbers[0] - 1].is_marked and picture.nodes[numbers[1] - 1].kind == "pass"


def test_a_pass_that_is_a_step_is_drawn_once() -> None:
    places = [(node.spot, node.kind) for node in pictured(WRAPPED, "TL320").nodes if node.kind in ("pass", "moment")]
    assert len({spot for spot, _ in places}) == len(places)
    [run] = [node for node in pictured(WRAPPED, "TL320").nodes if node.kind == "pass"]
    assert run.details[0] == "fills `.grad` of `alpha`"


def test_a_step_of_an_optimizer_that_is_a_step_is_drawn_once() -> None:
    kinds = [node.kind for node in pictured(COPY, "TL212").nodes if node.spot is not None and node.spot.row == 6]
    assert kinds == ["step"]


@pytest.mark.parametrize(("program", "code"), [(COUNTED, "TL503"), (UNSET, "TL508")])
def test_a_custom_function_and_what_it_saved(program: str, code: str) -> None:
    picture = pictured(program, code)
    [node] = [node for node in picture.nodes if node.title.startswith("ScaleBackward")]
    assert any(detail.startswith("saves input") for detail in node.details)


def test_a_place_that_nothing_times_is_not_said_to_come_last() -> None:
    """TL304 is reported at the list, which the program made long before the step that its story ends with."""
    picture = pictured(LISTED, "TL304")
    [own] = [node.number for node in picture.nodes if node.is_marked]
    assert not any(edge.end == own for edge in picture.edges if edge.relation == "then")


@pytest.mark.parametrize(
    ("statement", "value", "operands"),
    [
        ("y = x.detach()", "x.detach()", ["x"]),
        ("return f(a, b=c)", "f(a, b=c)", ["f", "a", "c"]),
        ("x += a.b", None, ["x", "a.b"]),
        ("z.register_hook(lambda g: g * 2)", "z.register_hook(lambda g: g * 2)", ["z"]),
        ("def f(x): return x", None, []),
    ],
)
def test_what_a_step_uses_is_in_its_syntax(statement: str, value: str | None, operands: list[str]) -> None:
    given, used = parts(ast.parse(statement).body[0])
    assert (None if given is None else ast.unparse(given)) == value
    assert [ast.unparse(each) for each in used] == operands
