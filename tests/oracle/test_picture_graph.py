"""The operations and arrows of a picture, asked of PyTorch: the names of nodes, and what ``next_functions`` says."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from textwrap import dedent
from typing import Any

import pytest
import torch
from test_hover_facts import EXPRESSIONS, SETUP
from tests.picture.test_story_picture import COPY, COUNTED, CUT, LISTED, UNSET, VECTOR, WRAPPED, pictured

from tapelint.analysis import analyse
from tapelint.picture import Nothing, Picture, picture_at

Graph = tuple[Counter[str], Counter[tuple[str, str]]]
"""How often there is an operation of each name, and an arrow (in PyTorch: a way) between operations of two names."""
LEAF = "leaf"
SHAPES = """\
a, b = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
v = a.exp() * a.exp() + b.sin() * a
v = (a * b + a) * (a * b + b)
y = a.exp(); v = y * y + y.sin() * y.cos()
y = a * 2; z = y.exp(); v = (z + y).sum() + (z * b).mean()
y = torch.stack([a, b, a * b]); v = (y * y.exp()).sum()
y = a * 1; y += b; y.mul_(2); v = y + a
h = a; s = a.sin(); h = (h * s + b).tanh(); h = (h * s + b).tanh(); v = h.sum()
y = a.exp(); y.sum().backward(retain_graph=True); v = (y * b).sum()
"""
PROGRAMS = [
    *(f"{SETUP}v = {each}\n" for row in EXPRESSIONS.strip().split("\n") for each in row.split(" | ")),
    *(f"import torch\n{SHAPES.splitlines()[0]}\n{row}\n" for row in SHAPES.splitlines()[1:]),
]


def pytorch(text: str) -> tuple[Graph, set[tuple[str, str]]] | None:
    """The graph of ``v`` in PyTorch, and which names are above which; None where it has none, or the program raises."""
    space: dict[str, object] = {}
    torch.manual_seed(0)
    try:
        exec(compile(text, "<program>", "exec"), space)
    except RuntimeError:
        return None
    value = space.get("v")
    if not isinstance(value, torch.Tensor) or value.grad_fn is None:
        return None
    nodes = _nodes(value.grad_fn)
    arrows = Counter((_name(below), _name(node)) for node in nodes for below in _below(node))
    ways = {(_name(below), _name(node)) for node in nodes for below in _nodes(node) if below is not node}
    return (Counter(map(_name, nodes)), arrows), ways


def _nodes(begin: Any) -> dict[Any, None]:
    found, todo = {begin: None}, [begin]
    while todo:
        below = [each for each in _below(todo.pop()) if each not in found]
        found.update(dict.fromkeys(below))
        todo += below
    return found


def _below(node: Any) -> set[Any]:
    return {onward for onward, _ in node.next_functions if onward is not None}


def _name(node: object) -> str:
    return LEAF if hasattr(node, "variable") else type(node).__name__


def picture_of(text: str) -> Picture | None:
    """The picture of what ``v`` is bound to."""
    rows = text.splitlines()
    column = rows[-1].rindex("v = ") + 1
    try:
        return picture_at(analyse(text), len(rows), column)
    except Nothing:
        return None


def drawn(picture: Picture) -> Graph:
    names = {
        node.number: LEAF if node.kind == "leaf" else node.title.split(" → ")[0]
        for node in picture.nodes
        if node.kind in ("leaf", "operation")
    }
    inputs = [edge for edge in picture.edges if edge.relation == "input"]
    return Counter(names.values()), Counter((names[edge.begin], names[edge.end]) for edge in inputs)


def is_pytorch(name: str) -> bool:
    """Whether it is a name that PyTorch gives, and not that of what the program calls."""
    return name == LEAF or re.fullmatch(r"\w+Backward\d*|CopySlices", name) is not None


@pytest.mark.parametrize("text", PROGRAMS, ids=range(len(PROGRAMS)))
def test_what_is_drawn_is_in_the_graph(text: str) -> None:
    """A call may be several nodes in PyTorch: then it is drawn as one."""
    truth, picture = pytorch(text), picture_of(text)
    if truth is not None and picture is not None and all(node.is_certain for node in picture.nodes):
        names, arrows = drawn(picture)
        own = Counter({name: count for name, count in names.items() if is_pytorch(name)})
        assert own <= truth[0][0]
        assert names[LEAF] == truth[0][0][LEAF]
        assert {(begin, end) for begin, end in arrows if is_pytorch(begin) and is_pytorch(end)} <= truth[1]


@pytest.mark.parametrize("text", PROGRAMS[-len(SHAPES.splitlines()) + 1 :])
def test_the_whole_graph_is_drawn(text: str) -> None:
    truth, picture = pytorch(text), picture_of(text)
    assert truth is not None and picture is not None
    assert drawn(picture) == truth[0]


@pytest.mark.parametrize(
    ("program", "code"),
    [
        (VECTOR, "TL307"),
        (CUT, "TL311"),
        (WRAPPED, "TL320"),
        (COUNTED, "TL503"),
        (UNSET, "TL508"),
        (COPY, "TL212"),
        (LISTED, "TL304"),
    ],
)
def test_what_a_story_uses_and_gives_is_in_the_graphs_of_the_program(program: str, code: str) -> None:
    """PyTorch is asked for the graph of each tensor that was made, until the program ends or raises: of each name of a
    node, and each arrow.
    """
    graphs, plain = _made(dedent(program))
    picture = pictured(program, code)
    names, arrows = drawn(picture)
    assert {name for name in names if is_pytorch(name)} <= {name for graph in graphs for name in graph[0]}
    assert {pair for pair in arrows if all(map(is_pytorch, pair))} <= {pair for graph in graphs for pair in graph[1]}
    for node in picture.nodes:
        if node.kind == "tensor" and node.title.strip("`") in plain:
            assert node.details == (f"requires grad: {'yes' if plain[node.title.strip('`')] else 'no'}", "no grad_fn")
        if node.kind == "leaf" and node.title.strip("`").isidentifier():
            assert plain[node.title.strip("`")], node.title


def _made(program: str) -> tuple[list[Graph], dict[str, bool]]:
    """The graphs of all results of backward-able ops, and whether the tensors without ``grad_fn`` require grad."""
    space: dict[str, Any] = {}
    graphs: list[Graph] = []

    def seen(tensor: object) -> None:
        if isinstance(tensor, torch.Tensor) and tensor.grad_fn is not None:
            nodes = _nodes(tensor.grad_fn)
            graphs.append((Counter(map(_name, nodes)), Counter((_name(b), _name(n)) for n in nodes for b in _below(n))))

    class Seeing(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            for each in (*args, result):
                seen(each)
            return result

    torch.manual_seed(0)
    with Seeing(), suppress(RuntimeError, AttributeError):
        exec(compile(program, "<program>", "exec"), space)
    tensors = {name: value for name, value in space.items() if isinstance(value, torch.Tensor)}
    return graphs, {name: value.requires_grad for name, value in tensors.items() if value.grad_fn is None}
