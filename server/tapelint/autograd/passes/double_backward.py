"""The graph of a gradient: what a gradient made with ``create_graph=True`` depends on.

    y = (x ** 3).sum(); g, = torch.autograd.grad(y, x, create_graph=True)

    x ── Pow ── Sum ── y         the nodes that ran are no part of the graph of g:
    x ── gradient ── g           the gradient of a power depends on x, that of a sum on nothing

Each node that ran on the way multiplies the gradient that came to it with what the table says (``ops.second``): with an
input, so the graph leads to what made that input, or with its own result, so it leads to the node itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...ops.second import Needs, gradient_needs
from ..facts import Facts
from ..model.graph import Leaf, Node, SavedTensor
from ..model.views import edge_of, resolve_view
from ..state import AutogradState


class DoubleBackward:
    """What the gradient that came to ``target`` depends on. ``order`` are the nodes on the way, the youngest first;
    ``starts`` are where the gradients lead that the pass began with.

    ``edges`` are where its graph leads, ``saved`` what it saves_anything, ``unknown`` is set where there may be more.
    ``keeps`` says that a second walk through it raises, ``constant`` is a Function of the program whose gradient
    depends on nothing.
    """

    def __init__(
        self,
        facts: Facts,
        state: AutogradState,
        order: Sequence[Node],
        target: Leaf | Node,
        starts: Iterable[Node | Leaf],
    ) -> None:
        self.facts, self.state = facts, state
        self.edges: dict[Node | Leaf, None] = dict.fromkeys(starts)
        self.saved: dict[SavedTensor, None] = {}
        self.unknown = False
        self.saves_anything = False
        self.constant: Node | None = None
        ways: set[Node | Leaf] = {*order, target}
        recorded: set[Node | Leaf] = set(order[:1]) if self.edges else set()
        for item in order:
            depends = self._add(item, ways.intersection(item.inputs), item in recorded)
            if depends or item in recorded:
                recorded.update(item.inputs)

    def _add(self, item: Node, wanted: set[Node | Leaf], recorded: bool) -> bool:
        """What one node that ran adds; whether that is anything."""
        if item.custom_backward is not None:
            made = self.facts.training.gradients[item].made if item in self.facts.training.gradients else ()
            depends = self._depend(*(edge_of(resolve_view(self.state, key)) for key in made))
            self.constant = self.constant if depends else item
            return depends
        if not item.certain or item.assumption is not None:
            self.unknown = True
            return False
        self.unknown |= not item.is_complete
        needs = gradient_needs(item.op, item.overload)
        if needs is None or not item.named_inputs and item.inputs:
            return self._saved_of(item)
        return self._depend_on_needs(item, needs, wanted, recorded)

    def _depend_on_needs(self, item: Node, needs: Needs, wanted: set[Node | Leaf], recorded: bool) -> bool:
        """What the gradient formulas of a node use on the way to its ``wanted`` inputs."""
        found = False
        roles = {role for role, edge in item.named_inputs if edge in wanted}
        for need in dict.fromkeys(n for role in roles for n in needs.get(role, ()) or ()):
            found |= self._depend(item if need.name == "result" else dict(item.named_inputs).get(need.name))
            if need.always or need.recorded and recorded:
                self.saved.update((s, None) for s in item.saved if s.role == need.name)
        self.unknown |= any(needs.get(role, ()) is None for role in roles)
        return found

    def _saved_of(self, item: Node) -> bool:
        """An op that could not be measured depends, as far as is known, on what it saved: for a layer that may be
        all where its weights are among it, but not where it is a target, or where it is unknown what it saves.
        """
        weights = any(self.state.tensors[saved.tensor].parameter for saved in item.saved)
        self.unknown |= not weights and (item.saves_anything or not item.saved)
        return self._depend(
            *(
                item if saved.role == "result" else edge_of(resolve_view(self.state, saved.tensor))
                for saved in item.saved
            )
        )

    def _depend(self, *edges: Node | Leaf | None) -> bool:
        found = dict.fromkeys(edge for edge in edges if edge is not None)
        self.edges.update(found)
        self.saves_anything |= bool(found)
        return bool(found)
