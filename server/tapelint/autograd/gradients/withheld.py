"""Gradients that a cut keeps from leaves, and what would have become of them.

    d_loss = D(fake.detach())     # the generator G made `fake`: `d_loss.backward()` gives G nothing
    d_loss.backward()
    opt_d.step()
    opt_g.zero_grad()             # and what it would have given is thrown away here, before `opt_g.step()`

What the pass of an earlier iteration has freed is no part of this one, so a cut above it keeps nothing back.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ..facts import Facts
from ..model.cuts import Withheld
from ..model.graph import BackwardPass, Leaf, Node
from ..model.graph_search import reachable
from ..model.program_point import ProgramPoint, earlier_iteration
from ..model.views import edge_of, resolve_view
from ..state import AutogradState

When = Literal["later", "first", "before"]
UNKNOWN_LEAF = -1
"""Stands for what lies behind a graph that is not known; nothing clears it."""


@dataclass(slots=True)
class Fates:
    """What became of what cuts have kept from leaves, in one unit: ``discarded`` is what would have been cleared,
    ``used`` what would have been used.
    """

    withheld: set[Withheld] = field(default_factory=set)
    discarded: set[Withheld] = field(default_factory=set)
    used: set[Withheld] = field(default_factory=set)

    def merge_from(self, other: Fates) -> None:
        """Know what ``other`` knows."""
        self.withheld |= other.withheld
        self.discarded |= other.discarded
        self.used |= other.used

    @property
    def in_vain(self) -> frozenset[Withheld]:
        """What is cleared and never used."""
        return frozenset(self.discarded - self.used)

    def discard(self, state: AutogradState, leaves: Iterable[int]) -> None:
        """The gradients of ``leaves`` are cleared: what was kept from them would be gone as well."""
        for key in leaves:
            self.discarded |= state.withheld.pop(key, frozenset())

    def use(self, state: AutogradState, leaves: Iterable[int] | None) -> None:
        """The gradients of ``leaves`` (of any, if None) are used, or unknown code may have done so."""
        for key in [*state.withheld] if leaves is None else leaves:
            self.used |= state.withheld.get(key, frozenset())


def withhold(
    facts: Facts, state: AutogradState, ran: Iterable[Node], now: BackwardPass, inputs: Sequence[int] | None, adds: bool
) -> frozenset[Withheld]:
    """What the pass ``now``, which ``ran`` these nodes, did not reach because of cuts. With ``inputs`` only they count;
    one that ``adds`` to ``.grad`` leaves it there for what comes.
    """
    kept = set[Withheld]()
    for (node, when), begin in _behind_cuts(facts, ran, now).items():
        found = [*reachable(begin, lambda each: not _is_gone(state, each, now))]
        keys = _leaves(state, found) if inputs is None else _asked(state, found, inputs)
        kept.update(Withheld(node, key, when) for key in keys)
    for each in kept if adds else ():
        state.withheld[each.leaf] = state.withheld.get(each.leaf, frozenset()) | {each}
    return frozenset(kept)


def _behind_cuts(facts: Facts, ran: Iterable[Node], now: BackwardPass) -> dict[tuple[ast.AST, When], list[Node | Leaf]]:
    """What the nodes of a pass were cut off from, by where that was and when it had been computed."""
    found: dict[tuple[ast.AST, When], list[Node | Leaf]] = {}
    origins = [facts.provenance_of(key) for node in ran for key in node.operand_ids]
    cuts = [cut for each in origins for cut in (each.cut, each.last_cut)]
    for cut in dict.fromkeys(each for each in cuts if each is not None):
        made = cut.source.created_at if cut.source is not None else cut.point
        behind: list[Node | Leaf] = [cut.source] if cut.source is not None else [*map(Leaf, cut.leaves)]
        found.setdefault((cut.point.node, _when(made, now.point)), []).extend(behind)
    return found


def _when(made: ProgramPoint, now: ProgramPoint) -> When:
    """When something was computed, for a pass that runs ``now``."""
    if earlier_iteration(made, now) is not None:
        return "before"
    return "later" if any(lap.number > 1 for lap in now.iterations) else "first"


def _leaves(state: AutogradState, found: Iterable[Node | Leaf]) -> list[int]:
    """The leaves among what a pass would come to that get a gradient."""
    leaves: list[int] = []
    for item in found:
        if isinstance(item, Node):
            leaves += [UNKNOWN_LEAF] if item.assumption is not None or not item.is_complete else []
        elif state.tensors[item.tensor].requires_grad is not False:
            leaves.append(item.tensor)
    return leaves


def _asked(state: AutogradState, found: Iterable[Node | Leaf], inputs: Sequence[int]) -> list[int]:
    """The tensors among ``inputs`` that a pass would come to."""
    reached = {*found}
    return [key for key in inputs if (edge := edge_of(resolve_view(state, key))) is not None and edge in reached]


def _is_gone(state: AutogradState, node: Node, now: BackwardPass) -> bool:
    """Whether the pass of an earlier iteration has freed a node."""
    freed = state.freed.get(node)
    return freed is not None and earlier_iteration(freed.point, now.point) is not None
