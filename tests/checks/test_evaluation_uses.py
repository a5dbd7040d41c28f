"""What becomes of a network's results in a loop, by the text alone."""

from __future__ import annotations

import ast

import pytest

from tapelint.checks.evaluation_uses import measuring

LOOP = """
def run(net, loader):
    for x, y in loader:
        {body}
    {after}
"""


def measured(body: str, after: str = "return total") -> bool:
    scope = ast.parse(LOOP.format(body=body, after=after)).body[0]
    loop = next(node for node in ast.walk(scope) if isinstance(node, ast.For))
    call = next(n for n in ast.walk(loop) if isinstance(n, ast.Call) and ast.unparse(n.func) == "net")
    return measuring(loop, call, scope) is not None


@pytest.mark.parametrize(
    "body",
    [
        "total += net(x).item()",
        "total += criterion(net(x), y)",
        "out = net(x); total += (out.argmax(1) == y).sum()",
        "_, best = torch.max(net(x), 1); metric.update(best, y)",
        "out = net(x); total.append(out.cpu().numpy())",
        "reset(net); metric.update(net(x), y)",
    ],
)
def test_measured(body: str) -> None:
    assert measured(body)


@pytest.mark.parametrize(
    "body",
    [
        "total.append(net(x))",
        "total += net(x).sum()",
        "self.last = net(x)",
        "return net(x)",
        "yield net(x)",
        "x = attack(net, x); total += net(x).item()",
        "criterion(net(x), y).backward()",
        "x.requires_grad_(); total += net(x).item()",
        "g = torch.autograd.grad(net(x).sum(), x); total += g[0].item()",
    ],
)
def test_kept_or_differentiated(body: str) -> None:
    assert not measured(body)


@pytest.mark.parametrize("holder", ["outs", "found", "FOUND"])
@pytest.mark.parametrize("fill", [".append(net(x))", "[x] = net(x)", ".setdefault(x, net(x))"])
def test_a_container_of_others_is_kept(holder: str, fill: str) -> None:
    """Only what the function has made itself ends with it."""
    text = f"def run(net, loader, outs):\n    found = []\n    for x, y in loader:\n        {holder}{fill}\n"
    scope = ast.parse(text).body[0]
    loop = next(node for node in ast.walk(scope) if isinstance(node, ast.For))
    call = next(n for n in ast.walk(loop) if isinstance(n, ast.Call) and ast.unparse(n.func) == "net")
    assert (measuring(loop, call, scope) is not None) == (holder == "found")


LEAVES_OUT = "out = net(x); total += criterion(out, y)"


@pytest.mark.parametrize("after", ["print(out.argmax(1))", "print(abs(y - out).mean().data.numpy())", "return total"])
def test_measured_below_the_loop(after: str) -> None:
    assert measured(LEAVES_OUT, after)


@pytest.mark.parametrize(
    "after", ["return out", "self.last = out", "total += out.mean(); return total", "out.mean().backward()"]
)
def test_used_below_the_loop(after: str) -> None:
    assert not measured(LEAVES_OUT, after)


def test_data_that_needs_no_gradient() -> None:
    assert measured("x = Variable(x, requires_grad=False); total += criterion(net(x), y)")
    assert not measured("x = Variable(x, requires_grad=True); total += criterion(net(x), y)")


def test_comprehension() -> None:
    tree = ast.parse("[net(x).item() for x in xs]\n[net(x) for x in xs]")
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.comprehension)]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "net"]
    calls.sort(key=lambda call: call.lineno)
    assert [measuring(loop, call, tree) is not None for loop, call in zip(loops, calls)] == [True, False]
