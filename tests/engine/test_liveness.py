"""The names that a loop still needs; paths that differ in other names only are joined."""

from __future__ import annotations

import ast

import pytest

from tapelint.analysis import analyse
from tapelint.engine.syntax.liveness import live


def head(text: str, index: int = -1) -> set[str]:
    """The names that are live at the head of one loop of ``text``, the last by default."""
    tree = ast.parse(text)
    loop = [node for node in ast.walk(tree) if isinstance(node, (ast.For, ast.While))][index]
    found = live(tree, loop)
    assert found is not None
    return set(found.head)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for x in a:\n    y = f(x)\n    g(y)", {"f", "g"}),
        ("for x in a:\n    g(y)\n    y = f(x)", {"f", "g", "y"}),
        ("for x in a:\n    if x:\n        y = 1\n    g(y)", {"g", "y"}),
        ("for x in a:\n    if x:\n        y = 1\n    else:\n        y = 2\n    g(y)", {"g"}),
        ("for x in a:\n    y = f(x)\ng(y)", {"f", "g", "y"}),
        ("for x in a:\n    y = f(x)\nprint(y.item())", {"f", "print", "y.item()"}),
        ("for x in a:\n    y += x", {"y"}),
        ("for x in a:\n    if x:\n        continue\n    y = f()\n    if y:\n        break\ng(z)", {"f", "g", "z"}),
        ("for x in a:\n    if f():\n        break\n    y = 1\nelse:\n    g(y)\nh(x)", {"f", "g", "h", "x", "y"}),
        ("while f(y):\n    y = 1", {"f", "y"}),
        ("while True:\n    y = f()\n    g(y)", {"f", "g"}),
        ("for x in a:\n    try:\n        y = f()\n    except E:\n        g(y)", {"E", "f", "g", "y"}),
        ("for x in a:\n    try:\n        y = f()\n    finally:\n        y = 2\n    g(y)", {"f", "g"}),
        ("for x in a:\n    with c():\n        y = f()\n    g(y)", {"c", "f", "g", "y"}),
        ("for x in a:\n    y = [z for z in x]\n    y.z = u", {"u", "z"}),
        ("def f():\n    return y + k(z)\nfor x in a:\n    y = f()", {"f", "k", "y", "z"}),
        ("def f(z):\n    y = 1\n    return y + z\nfor x in a:\n    y = f()", {"f"}),
        ("for x in a:\n    k = lambda: y\n    y = 1\n    k()", {"y"}),
        ("for x in a:\n    del y\n    y = 1", {"y"}),
        ("for p in a:\n    for x in b:\n        y = f(x)\n    g(y)", {"b", "f", "g", "y"}),
    ],
)
def test_live_names_at_the_loop_head(text: str, expected: set[str]) -> None:
    assert head(text) == expected


def test_liveness_of_deep_loops_is_fast() -> None:
    depth = 40
    text = "".join(f"{' ' * n}for x{n} in a{n}:\n" for n in range(depth)) + " " * depth + "y = f(x0)\n"
    assert {"f", "a1", "a39"} <= head(text, 0)


def paths(body: str) -> dict[str, int]:
    text = f"import torch\nfrom somewhere import *\nw = torch.ones(3, requires_grad=True)\n{body}"
    return analyse(text).stats


def test_paths_that_differ_in_dead_names_are_joined() -> None:
    branches = "".join(f"    if flag{n}(x):\n        y = y * w\n" for n in range(2))
    once = f"for x in data:\n    y = w * x\n{branches}    y.sum().backward()\n"
    assert paths(once)["dropped"] == 0
    carried = f"y = w * 2\nfor x in data:\n{branches}y.sum().backward()\n"
    assert paths(carried)["dropped"] > 0


def test_views_of_one_tensor_are_joined() -> None:
    branches = "    if flag(x):\n        y = y.unsqueeze(0)\n    y = y * y\n"
    assert paths(f"y = w * 2\nfor x in range(4):\n{branches}y.sum().backward()\n")["dropped"] == 0
