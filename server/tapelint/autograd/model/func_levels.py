"""Levels: functions that ``torch.func`` differentiates run inside a graph of their own.

    g = torch.func.grad(f)(x)     # f is given an alias of x, which is a leaf there; its loss is differentiated by it

    x ── alias ── ... ── loss     while f runs there is one graph, and the alias requires grad whatever x does
    x ── alias ── ... ── g        outside, what depends on nothing but aliases of data is data

So a function is executed once, on one graph; when the level ends (``leave``) what no gradient outside can come through
is taken out of it again. What f may not do inside a level is asked of the innermost one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from ...frozen import frozen
from ...ops import overload
from ..facts import Facts
from ..state import AutogradState, fresh_id
from .graph import Leaf, Node, SavedTensor, Tensor
from .graph_search import reachable
from .requires_grad import give_history
from .views import edge_of, resolve_view


@frozen
class Level:
    """A transform that is running. What is younger than ``begin`` was made inside; ``mode`` is the grad mode around it,
    ``given`` are the memories it was given, ``inputs`` the aliases.
    """

    begin: int
    mode: bool | None
    given: frozenset[int] = frozenset()
    inputs: frozenset[int] = frozenset()
    differentiates: bool = True

    def owns(self, tensor: Tensor) -> bool:
        """Whether the function may write a tensor: it was given it or made it."""
        return tensor.version_counter > self.begin or tensor.version_counter in self.given


def alias(state: AutogradState, key: int, node: ast.AST) -> int:
    """The tensor ``key`` as a leaf of a new level."""
    source = resolve_view(state, key)
    edge = edge_of(source)
    edges = () if edge is None else (edge,)
    made = fresh_id()
    graph = Node(
        made,
        "view_as",
        edges,
        state.point(node),
        certain=source.requires_grad is not None,
        results=(made,),
        operand_ids=(key,),
        named_inputs=tuple(("self", e) for e in edges),
    )
    state.tensors[made] = replace(
        source,
        id=made,
        created_at=graph.created_at,
        requires_grad=True,
        grad_fn=graph,
        base=None,
        view="",
        parameter=False,
        inference=False,
    )
    return made


def is_input(facts: Facts, key: int) -> bool:
    """Whether a tensor is a leaf of a level that is running."""
    return any(key in level.inputs for level in facts.running.levels)


def is_captured(facts: Facts, tensor: Tensor) -> bool:
    """Whether the function that is being differentiated may not write a tensor, for it comes from around it."""
    level = next((level for level in reversed(facts.running.levels) if level.differentiates), None)
    return level is not None and not level.owns(tensor)


def leave(facts: Facts, state: AutogradState, level: Level, more: Iterable[int] = ()) -> None:
    """A level ends: what was made inside, and ``more``, has the graph that it has outside."""
    keys = [*more]
    for key in reversed(state.tensors):
        keys.append(key)
        if key == level.begin:
            break
    see_outside(facts, state, level, keys)


def see_outside(facts: Facts, state: AutogradState, level: Level, keys: Iterable[int]) -> None:
    """Give some tensors the graph that they have outside a level."""
    keys = list(keys)
    outside = Outside(facts, state, level)
    outside.add(state.grad_fns(keys))
    for key in keys:
        tensor = state.tensors[key]
        if tensor.grad_fn is None or tensor.grad_fn not in outside.found:
            continue
        graph, needs = outside.found[tensor.grad_fn]
        if graph is not tensor.grad_fn or needs is not tensor.requires_grad:
            give_history(state, tensor, graph, needs)


class Outside:
    """What becomes of the nodes of a level outside: ``found`` has for each the node in its place, and whether gradients
    come through it.
    """

    def __init__(self, facts: Facts, state: AutogradState, level: Level) -> None:
        self.facts, self.state, self.level = facts, state, level
        self.found: dict[Node, tuple[Node | None, bool | None]] = {}

    def add(self, graphs: Iterable[Node]) -> None:
        inside = [item for item in reachable(graphs, self._is_inside) if isinstance(item, Node)]
        for item in sorted(inside, key=lambda node: node.id):
            self.found[item] = self._outside(item)

    def _is_inside(self, item: Node) -> bool:
        """Whether a node is of the level, and what becomes of it is not known yet."""
        return item.id >= self.level.begin and item not in self.found

    def edge(self, item: Node | Leaf) -> tuple[Node | Leaf | None, bool | None]:
        """Where an edge leads outside, and whether it leads anywhere."""
        if isinstance(item, Node) and item in self.found:
            return self.found[item]
        known = item.certain if isinstance(item, Node) else self.state.tensors[item.tensor].requires_grad is True
        if self.level.mode is False:
            return None, False
        return item, True if known and self.level.mode else None

    def _outside(self, item: Node) -> tuple[Node | None, bool | None]:
        """A node outside the level, None where nothing behind it is there; and whether it requires grad there."""
        edges = {child: self.edge(child) for child in item.inputs}
        ways = {way for _, way in edges.values()}
        if ways <= {False}:
            return None, False
        needs = True if True in ways and item.certain else None
        kept = {child: there for child, (there, way) in edges.items() if there is not None and way is not False}
        same = all(there is child for child, there in kept.items())
        if same and len(kept) == len(edges) and (needs or not item.certain):
            return item, needs
        return self._copied(item, kept, len(kept) < len(edges), item.certain and needs is True), needs

    def _copied(self, item: Node, kept: dict[Node | Leaf, Node | Leaf], is_narrowed: bool, certain: bool) -> Node:
        """The node as it is outside the level: to the inputs that are ``kept``, each with what it is there."""
        sources = tuple((role, kept[edge]) for role, edge in item.named_inputs if edge in kept)
        made = replace(item, inputs=tuple(dict.fromkeys(kept.values())), named_inputs=sources, certain=certain)
        if is_narrowed:
            made = self._narrowed(made)
        if item in self.facts.training.gradients:
            self.facts.training.gradients[made] = self.facts.training.gradients[item]
        return made

    def _narrowed(self, item: Node) -> Node:
        """A node to fewer inputs saves what these need."""
        row = overload(item.op, item.overload)
        if row is None:
            return replace(item, saved=tuple(saved for saved in item.saved if self._is_tracked(saved)))
        roles = {role for role, _ in item.named_inputs}
        needed = [save for save in row.saves if not save.gradient_of or save.gradient_of & roles]
        names = {"result" if save.what.startswith("result") else save.what for save in needed} | {"checkpoint"}
        return replace(
            item,
            saved=tuple(s for s in item.saved if s.role in names),
            saves_anything=item.saves_anything and bool(needed),
        )

    def _is_tracked(self, saved: SavedTensor) -> bool:
        graph = resolve_view(self.state, saved.tensor).grad_fn
        return graph is None or graph not in self.found or self.found[graph][1] is not False
