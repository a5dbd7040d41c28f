"""Recurrences whose state is detached in every iteration.

    for x in sequence:
        h = cell(x, h.detach())      # the graph of the iteration before is not held any longer
    loss(h).backward()               # reaches what the last iteration computed, and no other

A backward shows it: what it walks of the loop is of one iteration, which began with what the same code had computed in
the one before, without its graph. That graph leads to parameters, no pass has walked it and nothing holds it. A loop
that has a loop in it may be meant so: the inner one goes through a part of a sequence (truncated backpropagation).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..autograd import Cut, CutReason, Leaf, Node
from ..autograd.events.broken_graph import RecurrenceCut
from ..autograd.model.graph_search import nodes_below
from ..autograd.model.program_point import Iteration, earlier_iteration
from ..domain.reachability import reachable_graph
from ..domain.state import State
from ..engine.lifecycle import BackwardEnded
from ..engine.machine import Machine

DETACHED = frozenset((CutReason.DETACH, CutReason.DATA))


def on_backward_ended(machine: Machine, event: BackwardEnded) -> None:
    """Publish the cuts by which a pass has reached the last iteration of a loop only."""
    state = event.state
    running = {lap.run for lap in state.iterations}
    candidates = [found for found in _candidates(machine) if found[2].run not in running]
    if not candidates:
        return
    walked = event.nodes()
    used = {key for node in walked for key in node.operand_ids}
    for tensor, cut, before in candidates:
        if tensor in used and _is_last_only(walked, cut, before) and _is_lost(state, cut, before):
            point = state.point(event.call)
            machine.facts.events.publish(RecurrenceCut(point=cut.point, cut=cut, before=before, walk=point))


def _candidates(machine: Machine) -> Iterator[tuple[int, Cut, Iteration]]:
    """The tensors that were detached from what an earlier iteration of a loop had computed, and that iteration."""
    for tensor, cut in machine.facts.cuts():
        if cut.reason in DETACHED and cut.source is not None:
            before = earlier_iteration(cut.source.created_at, cut.point)
            if before is not None:
                yield tensor, cut, before


def _is_last_only(walked: set[Node], cut: Cut, before: Iteration) -> bool:
    """Whether a pass has walked one iteration of a loop, the code of which is that of the iteration before; no loop is
    in it.
    """
    now = next(lap for lap in cut.point.iterations if lap.run == before.run)
    of_loop = [node for node in walked if any(lap.run == before.run for lap in node.created_at.iterations)]
    if any(node.created_at.iterations[-1] != now for node in of_loop):
        return False
    return cut.source is not None and cut.source.created_at.call_site in {node.created_at.call_site for node in of_loop}


def _is_lost(state: State, cut: Cut, before: Iteration) -> bool:
    """Whether the graph of an iteration leads to parameters, no pass has walked it and nothing holds it."""
    below = nodes_below([cut.source] if cut.source is not None else ())
    lost = {node for node in below if before in node.created_at.iterations}
    if any(node in state.freed or node in state.retained or not node.certain for node in lost):
        return False
    leaves = {item.tensor for node in lost for item in node.inputs if isinstance(item, Leaf)}
    return any(state.tensors[leaf].parameter for leaf in leaves) and not lost & reachable_graph(state)
