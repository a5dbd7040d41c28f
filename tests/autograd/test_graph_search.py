"""Searches over the edges of a graph."""

from __future__ import annotations

from tapelint import analysis
from tapelint.autograd import Facts, Leaf, Node
from tapelint.autograd.model.graph_search import leaf_tensors, nodes_below, reachable
from tapelint.source import parse

PROGRAM = """
import torch
a = torch.ones(3, requires_grad=True)
b = torch.ones(3, requires_grad=True)
shared = a.exp()
loss = (shared * b + shared).sum()
loss.backward()
"""


def root() -> Node:
    facts = Facts()
    found: list[Node] = []
    facts.events.subscribe(lambda event: found.extend(getattr(event, "ran", ())))
    analysis.run(parse(PROGRAM, "program.py"), facts)
    return max(found, key=lambda node: node.id)


def test_everything_is_reached_once() -> None:
    items = list(reachable([root()]))
    nodes = [item.op for item in items if isinstance(item, Node)]
    assert sorted(nodes) == ["add", "exp", "mul", "sum"]
    assert len(items) == 6 and sum(isinstance(item, Leaf) for item in items) == 2


def test_a_search_does_not_go_below_what_is_not_within() -> None:
    found = list(reachable([root()], within=lambda node: node.op != "mul"))
    assert sorted(item.op for item in found if isinstance(item, Node)) == ["add", "exp", "sum"]
    assert sum(isinstance(item, Leaf) for item in found) == 1


def test_nodes_and_leaves_of_a_graph() -> None:
    start = root()
    assert nodes_below([start]) == {item for item in reachable([start]) if isinstance(item, Node)}
    assert leaf_tensors([start]) == {item.tensor for item in reachable([start]) if isinstance(item, Leaf)}
