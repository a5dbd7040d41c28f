"""Why a root is unknown: the first expression, from the root backwards, of which nothing is known.

    loss = criterion(net(x), y)         a backward at `loss`, whose root is not known to carry a graph
    loss.backward()                     `loss` <- `criterion(net(x), y)` <- `net(x)` <- `net`: unknown

The file is executed once more with a probe that notes which expression made each value first.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from tapelint.analysis import run
from tapelint.analysis.execution import Inputs
from tapelint.autograd import Facts
from tapelint.domain.state import State
from tapelint.domain.values import BuiltinMethod, External, TensorRef, Unknown
from tapelint.engine.machine import Place, place_of
from tapelint.source import Source
from tapelint.stubs import Resolve

STEPS = 9
"""How far back a chain is followed."""


class Origins:
    """A probe. ``first`` holds for each tensor and unknown value the expression that made it, ``last`` what each
    expression was known as last.
    """

    def __init__(self) -> None:
        self.first: dict[int, ast.AST] = {}
        self.last: dict[ast.AST, tuple[Any, str]] = {}

    def probe(self, node: ast.AST, state: State, value: Any) -> None:
        self.last[node] = value, described(state, value)
        key = identity(value)
        if key is not None:
            self.first.setdefault(key, node)

    def chain(self, node: ast.AST) -> Iterator[str]:
        """From an expression back to what it was made of, as long as that is not known to carry a graph."""
        seen: set[ast.AST] = set()
        while len(seen) < STEPS and node not in seen and node in self.last:
            seen.add(node)
            value, words = self.last[node]
            yield f"{getattr(node, 'lineno', 0)}: {short(node)} = {words}"
            key = identity(value)
            made = self.first.get(key, node) if key is not None else node
            if made not in seen:
                node = made
                continue
            parts = [part for part in pieces(node) if part in self.last]
            doubtful = [part for part in parts if self.last[part][1] in DOUBTFUL]
            if not doubtful:
                yield from (f"    {short(part)} = {self.last[part][1]}" for part in parts)
                return
            node = doubtful[0]


def identity(value: Any) -> int | None:
    """What two sightings of one value have in common."""
    return value.id if isinstance(value, TensorRef) else value.tensor_id if isinstance(value, Unknown) else None


UNKNOWN, PERHAPS, PLAIN = "unknown", "a tensor of which is not known whether it carries a graph", "data"
DOUBTFUL = (UNKNOWN, PERHAPS, PLAIN)


def described(state: State, value: Any) -> str:
    """A value in few words."""
    if isinstance(value, TensorRef):
        grad = state.tensors[value.id].requires_grad
        return "a graph" if grad else PLAIN if grad is False else PERHAPS
    if isinstance(value, Unknown):
        return PLAIN if value.requires_grad is False else UNKNOWN
    if isinstance(value, BuiltinMethod):
        return f"{value.name} of {described(state, value.receiver)}"
    return value.name if isinstance(value, External) else type(value).__name__


def pieces(node: ast.AST) -> Iterator[ast.AST]:
    """What an expression is made of: the callee first, then its arguments."""
    if isinstance(node, ast.Call):
        yield node.func.value if isinstance(node.func, ast.Attribute) else node.func
        if isinstance(node.func, ast.Attribute):
            yield node.func
        yield from node.args
        yield from (keyword.value for keyword in node.keywords)
    else:
        yield from (child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))


def short(node: ast.AST) -> str:
    """The text of an expression, cut where it gets long."""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) < 70 else text[:67] + "..."


def unknown_roots(source: Source, name: str, resolve: Resolve, places: set[Place]) -> Iterator[str]:
    """For each of ``places`` that is in ``source``, how its root came about."""
    origins = Origins()
    run(source, Facts(), Inputs(resolve=resolve), origins.probe)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and place_of(source.path, node) in places:
            yield f"{name}:{node.lineno}:{node.col_offset + 1}: {short(node)}"
            yield from (f"    {step}" for step in origins.chain(root_of(node, origins)))


def root_of(node: ast.Call, origins: Origins) -> ast.expr:
    """Where a backward begins: what its method is called on, or the first argument of a library's function."""
    given = [*node.args, *(keyword.value for keyword in node.keywords), node.func]
    if isinstance(node.func, ast.Attribute) and identity(origins.last.get(node.func.value, (None, ""))[0]) is not None:
        return node.func.value
    return given[0]
