"""``reveal_graph`` for real tensors: the notation of ``mdreveal``, read off ``grad_fn``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

import torch


def revealing(seen: dict[int, list[str]], file: str, offset: int) -> Callable[[object], None]:
    """A ``reveal_graph`` that notes what it is given by the row of the block in ``file`` that calls it."""

    def reveal_graph(value: object) -> None:
        frame = sys._getframe(1)
        assert frame.f_code.co_filename == file
        seen.setdefault(frame.f_lineno - offset, []).append(graph_of(value, [frame.f_locals, frame.f_globals]))

    return reveal_graph


def graph_of(value: object, scopes: list[Mapping[str, object]]) -> str:
    """The graph of a value."""
    if not isinstance(value, torch.Tensor):
        return "no tensor"
    if not value.requires_grad:
        return "no graph"
    return _name(value, scopes) if value.grad_fn is None else Graph(scopes).text(value.grad_fn)


class Graph:
    """Writes one graph; leaves have the names that ``scopes`` bind them to."""

    def __init__(self, scopes: list[Mapping[str, object]]) -> None:
        self.scopes = scopes
        self.users: dict[object, int] = {}
        self.numbers: dict[object, int] = {}

    def text(self, node: torch.autograd.graph.Node) -> str:
        self._count(node)
        return self._written(node)

    def _count(self, node: torch.autograd.graph.Node) -> None:
        self.users[node] = self.users.get(node, 0) + 1
        if self.users[node] == 1:
            for each in _inputs(node):
                self._count(each)

    def _written(self, node: torch.autograd.graph.Node) -> str:
        if hasattr(node, "variable"):
            return _name(node.variable, self.scopes)
        if node in self.numbers:
            return f"#{self.numbers[node]}"
        mark = ""
        if self.users[node] > 1:
            self.numbers[node] = len(self.numbers) + 1
            mark = f"#{self.numbers[node]} "
        return f"{mark}{type(node).__name__}{_saved(node)}({', '.join(map(self._written, _inputs(node)))})"


def _inputs(node: torch.autograd.graph.Node) -> list[torch.autograd.graph.Node]:
    return [each for each, _ in node.next_functions if each is not None]


def _saved(node: torch.autograd.graph.Node) -> str:
    """Whether a node keeps tensors, or why they cannot be used any more."""
    keeps = False
    names = [name for name in dir(node) if name.startswith("_saved_") or name == "saved_tensors"]
    for name in names:
        try:
            found = getattr(node, name)
        except RuntimeError as error:
            return "[modified]" if "modified by an inplace" in str(error) else "[freed]"
        items = found if isinstance(found, (tuple, list)) else (found,)
        keeps |= any(isinstance(each, torch.Tensor) for each in items)
    return "[saved]" if keeps else ""


def _name(leaf: torch.Tensor, scopes: list[Mapping[str, object]]) -> str:
    """The first name that is bound to a leaf."""
    return next((name for scope in scopes for name, value in scope.items() if value is leaf), "leaf")
