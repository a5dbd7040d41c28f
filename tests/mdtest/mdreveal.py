"""``reveal_graph(x)`` in literate tests: the graph of a tensor, in a notation that tapelint and PyTorch can produce.

    loss = (w.exp() * w).sum()
    reveal_graph(loss)      # reveals: SumBackward0(MulBackward0[saved](ExpBackward0[saved](w), w))

A node is the name of its class in PyTorch, and its ``next_functions`` in parentheses, without those that are None. One
that keeps tensors for backward is ``[saved]``, ``[freed]`` after a backward freed them, or ``[modified]`` if one of
them was written in place since, as far as PyTorch shows it. A leaf is the first name in scope that is bound to it, or
``leaf``. A node that is met again is ``#1``, with the number that it was given the first time. A tensor without a graph
is ``no graph``. Where the line is executed several times, what differs from the time before is joined by ``then``.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tapelint.analysis import executed, made
from tapelint.analysis.execution import Inputs
from tapelint.autograd import Facts, Leaf, Node, edge_of, resolve_view
from tapelint.domain.state import State
from tapelint.domain.values import TensorRef, Value
from tapelint.source import parse
from tapelint.trace.graph_text import grad_fn_name, next_functions

if TYPE_CHECKING:
    from mdspec import Block

CALL, HARMLESS = "reveal_graph(", "print("


def without_reveals(program: str) -> str:
    """A program in which the graphs are printed instead: an unknown function could do anything to them."""
    return program.replace(CALL, HARMLESS)


def in_order(seen: Mapping[int, list[str]]) -> dict[int, str]:
    """What was revealed in each row, without repetitions."""
    return {
        row: " then ".join(text for text, before in zip(texts, ["", *texts]) if text != before)
        for row, texts in sorted(seen.items())
    }


def revealed(block: Block) -> dict[int, str]:
    """What the engine reveals in the rows of ``block``."""
    source = parse(without_reveals(block.program), "revealed.py")
    rows = {row + block.offset for row in block.reveals}
    watched = {
        node.args[0]: node.lineno - block.offset
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "print" and node.lineno in rows
    }
    seen: dict[int, list[str]] = {}

    def probe(node: ast.AST, state: State, value: Value) -> None:
        if node in watched:
            seen.setdefault(watched[node], []).append(graph_of(state, value))

    executed(made(source, Facts(), Inputs(resolve=lambda *_: None), probe))
    return in_order(seen)


def graph_of(state: State, value: Value) -> str:
    """The graph of a value on a path of the engine."""
    if not isinstance(value, TensorRef):
        return "no tensor"
    tensor = resolve_view(state, value.id)
    if tensor.requires_grad is None:
        return "unknown"
    if not tensor.requires_grad:
        return "no graph"
    return Graph(state).text(edge_of(tensor) or Leaf(value.id))


class Graph:
    """Writes the graphs of one path."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.users: dict[Node, int] = {}
        self.numbers: dict[Node, int] = {}

    def text(self, edge: Node | Leaf) -> str:
        self._count(edge)
        return self._written(edge)

    def _count(self, edge: Node | Leaf) -> None:
        """How often each node below is met."""
        if isinstance(edge, Node):
            self.users[edge] = self.users.get(edge, 0) + 1
            if self.users[edge] == 1:
                for each in next_functions(edge):
                    self._count(each)

    def _written(self, edge: Node | Leaf) -> str:
        if isinstance(edge, Leaf):
            return self._name(edge.tensor)
        if edge in self.numbers:
            return f"#{self.numbers[edge]}"
        mark = ""
        if self.users[edge] > 1:
            self.numbers[edge] = len(self.numbers) + 1
            mark = f"#{self.numbers[edge]} "
        inner = ", ".join(map(self._written, next_functions(edge)))
        return f"{mark}{grad_fn_name(edge)}{self._saved(edge)}({inner})"

    def _saved(self, node: Node) -> str:
        if grad_fn_name(node) == "CopySlices":
            return ""  # PyTorch does not show what it keeps
        if node.saves_anything and node in self.state.freed:
            return "[freed]"
        if self.state.has_modified_saved(node):
            return "[modified]"
        return "[saved]" if node.saves_anything else ""

    def _name(self, tensor: int) -> str:
        """The first name in scope that is bound to a leaf."""
        key = self.state.frame
        while key:
            frame = self.state.heap[key]
            for name, value in frame.variables.items():
                if value == TensorRef(tensor):
                    return str(name)
            key = frame.parent
        return "leaf"
