"""What hovers say that a call does, asked of real PyTorch: a program runs up to its marked line, which runs alone."""

from __future__ import annotations

import re

import pytest
import torch

from tapelint.analysis import analyse
from tapelint.hover import hover_at

SETUP = """\
import torch
from torch import nn
x = torch.rand(3)
w = torch.rand(3, requires_grad=True)
b = torch.rand(3, requires_grad=True)
net = nn.Linear(3, 1)
opt = torch.optim.SGD([w, b], lr=0.1)
adam = torch.optim.Adam(net.parameters())
"""
BACKWARDS = """
(w * w).sum().backward()  # here

loss = (w * 2).sum()
loss.backward()  # here

loss = (w * b).exp().sum()
loss.backward(retain_graph=True)  # here

(w * w).sum().backward()
(w * b).sum().backward()  # here

(w * w).sum().backward()
opt.zero_grad()
(w * b).sum().backward()  # here

(w * w).sum().backward()
opt.step()
(w * b).sum().backward()  # here

net(x).sum().backward()  # here

net(w).sum().backward()
adam.step()
net(b).sum().backward()  # here

net.requires_grad_(False)
loss = net(w).sum()
loss.backward()  # here

(w.detach() * b).sum().backward()  # here

torch.autograd.backward((w * b).sum())  # here

g = torch.autograd.grad((w ** 3).sum(), w)  # here

w.grad = torch.ones(3)
(w * w).sum().backward()  # here

(w ** 3).sum().backward(create_graph=True)  # here
"""
STEPS = """
(w * w).sum().backward()
opt.step()  # here

((w + b) ** 2).sum().backward()
opt.step()  # here

net(x).sum().backward()
adam.step()  # here

net(w).sum().backward()
opt.step()  # here

net(w).sum().backward()
opt.zero_grad()
opt.step()  # here

net.weight.requires_grad_(False)
net(x).sum().backward()
adam.step()  # here

(w * w).sum().backward()
opt.zero_grad()  # here

(w * w).sum().backward()
opt.zero_grad(set_to_none=False)  # here

net(w).sum().backward()
net.zero_grad()  # here

net(w).sum().backward()
opt.zero_grad()  # here

(w * b).sum().backward()
w.grad = None
opt.zero_grad()  # here

opt.zero_grad()  # here
"""
CLAIMS = {
    "fills": r"fills `\.grad` of ([^,;]*(?:, `[^,;]*)*), which was None",
    "adds": r"adds to `\.grad` of (.*?)(?: on top|$)",
    "updates": r"updates (.*?) in place",
    "drops": r"drops the gradients of (.*)",
    "zeroes": r"sets to zero the gradients of (.*)",
}


def leaves(space: dict) -> dict[str, torch.Tensor]:
    found = {name: space[name] for name in ("w", "b")}
    return found | {f"net.{name}": value for name, value in space["net"].named_parameters()}


def prepared(text: str) -> tuple[dict, str]:
    """The namespace before the marked line, and that line."""
    before, line = text.partition("  # here")[0].rsplit("\n", 1)
    space: dict = {}
    exec(before, space)
    return space, line


def said(text: str) -> str:
    rows = text.splitlines()
    row = next(i for i, line in enumerate(rows, 1) if "# here" in line)
    call = re.search(r"(backward|grad|step|zero_grad)\([^()]*(?:\(.*\))?[^()]*\)  #", rows[row - 1])
    assert call is not None
    found = hover_at(analyse(text), row, call.start(1) + 1)
    assert found is not None
    return found.markdown


def claimed(markdown: str, what: str) -> set[str]:
    return {name for match in re.finditer(CLAIMS[what], markdown, re.M) for name in re.findall(r"`([^`]+)`", match[1])}


@pytest.mark.parametrize("body", BACKWARDS.strip().split("\n\n"))
@pytest.mark.filterwarnings("ignore:Using backward. with create_graph")
def test_whose_gradient_a_backward_fills(body: str) -> None:
    markdown = said(SETUP + body + "\n")
    space, line = prepared(SETUP + body)
    before = {name: None if t.grad is None else t.grad.clone() for name, t in leaves(space).items()}
    exec(line, space)
    after = leaves(space)
    filled = {n for n, t in after.items() if before[n] is None and t.grad is not None}
    added = {n for n, t in after.items() if before[n] is not None and not torch.equal(before[n], t.grad)}
    assert claimed(markdown, "fills") == filled, markdown
    assert claimed(markdown, "adds") == added, markdown


@pytest.mark.parametrize(
    "body", ["loss = (w * 2).sum()", "loss = (w * w).sum()", "loss = net(w).sum()", "loss = w.sum()"]
)
@pytest.mark.parametrize("retain", ["", "retain_graph=True"])
def test_what_a_backward_frees(body: str, retain: str) -> None:
    text = f"{SETUP}{body}\nloss.backward({retain})  # here\n"
    markdown = said(text)
    space, line = prepared(text)
    exec(line, space)
    if "a second backward through those raises" in markdown:
        with pytest.raises(RuntimeError, match="backward through the graph a second time"):
            exec("loss.backward()", space)
    else:
        assert "none of them saved anything" in markdown or "keeps what" in markdown
        exec("loss.backward()", space)


@pytest.mark.parametrize("body", STEPS.strip().split("\n\n"))
def test_what_a_step_writes_and_what_is_cleared(body: str) -> None:
    markdown = said(SETUP + body + "\n")
    space, line = prepared(SETUP + body)
    versions = {name: t._version for name, t in leaves(space).items()}
    held = {name for name, t in leaves(space).items() if t.grad is not None}
    exec(line, space)
    after = leaves(space)
    assert claimed(markdown, "updates") == {n for n, t in after.items() if t._version != versions[n]}, markdown
    if "zero_grad" in line:
        assert claimed(markdown, "drops") == {n for n in held if after[n].grad is None}, markdown
        owner = {"w", "b"} if line.startswith("opt") else {"net.weight", "net.bias"}
        zeroed = {n for n in held & owner if after[n].grad is not None and not after[n].grad.any()}
        assert claimed(markdown, "zeroes") == zeroed, markdown


def test_what_a_checkpoint_recomputes() -> None:
    from torch.utils.checkpoint import checkpoint

    calls = []
    x = torch.ones(3, requires_grad=True)
    y = checkpoint(lambda t: calls.append(t) or t.exp(), x, use_reentrant=False)
    assert len(calls) == 1
    y.sum().backward()
    assert len(calls) == 2


def test_inference_tensors_are_not_saved() -> None:
    w = torch.ones(3, requires_grad=True)
    with torch.inference_mode():
        y = torch.ones(3) * 2
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        w * y
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
        y.add_(1)


def test_a_removed_hook_is_not_called_and_two_are() -> None:
    calls = []
    w = torch.ones(3, requires_grad=True)
    w.register_hook(lambda g: calls.append("removed")).remove()
    w.register_hook(lambda g: calls.append("first"))
    w.register_hook(lambda g: calls.append("second"))
    (w * 2).sum().backward()
    assert calls == ["first", "second"]


def test_a_function_without_gradients_keeps_nothing() -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    assert Double.apply(torch.ones(3)).grad_fn is None
    y = Double.apply(torch.ones(3, requires_grad=True))
    assert type(y.grad_fn).__name__ == "DoubleBackward"


@pytest.mark.filterwarnings("ignore:Using backward. with create_graph")
def test_create_graph_ties_a_leaf_to_its_gradient() -> None:
    x = torch.ones(3, requires_grad=True)
    (x**3).sum().backward(create_graph=True)
    assert x.grad is not None and x.grad.requires_grad
    (g,) = torch.autograd.grad((x * 3).sum(), x, create_graph=True)
    assert not g.requires_grad
