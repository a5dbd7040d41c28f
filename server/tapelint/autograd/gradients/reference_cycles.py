"""Leaves whose own gradient holds them: ``backward(create_graph=True)``.

    loss.backward(create_graph=True)   # w -> w.grad -> its graph -> w

PyTorch cannot see such a cycle, so nothing in it is freed before ``.grad`` is cleared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...bounds import BOUNDS
from ...frozen import frozen
from ..events.graph_walks import GradientCycle
from ..facts import Facts
from ..model.graph import Node
from ..model.graph_search import leaf_tensors
from ..model.program_point import ProgramPoint, earlier_iteration
from ..model.views import edge_of, resolve_view
from ..state import AutogradState


@frozen
class Cycle:
    """``grad`` is the gradient that holds its leaf since ``point``; later iterations added to it ``times``."""

    grad: int
    point: ProgramPoint
    times: int = 0


def closed(facts: Facts, state: AutogradState, ran: Iterable[Node], leaves: Sequence[int], now: ProgramPoint) -> None:
    """A backward with ``create_graph`` ran these nodes and has filled the gradients of ``leaves``, whose graphs lead to
    whatever the nodes had saved.
    """
    edges = [
        item if saved.role == "result" else edge_of(resolve_view(state, saved.tensor))
        for item in ran
        for saved in item.saved
    ]
    reached = leaf_tensors(edge for edge in edges if edge is not None)
    for key in leaves:
        grad = state.grads.get(key)
        if grad is None or key not in reached:
            continue
        past = state.cycles.get(key)
        if past is None or past.grad != grad:
            state.cycles[key] = Cycle(grad, now)
        elif earlier_iteration(past.point, now) is not None:
            state.cycles[key] = Cycle(grad, past.point, past.times + 1)
            if past.times + 1 == BOUNDS.cyclic_gradients:
                facts.events.publish(GradientCycle(point=now, leaf=key, past=past.point, call=None))


def left(facts: Facts, state: AutogradState, made: ProgramPoint, known: Iterable[int]) -> None:
    """A call that began at ``made`` returns: which unreachable leaves are held by their gradient?"""
    outside = set(known)
    depth = len(made.calls)
    for key, cycle in list(state.cycles.items()):
        if state.grads.get(key) != cycle.grad:
            del state.cycles[key]
            continue
        created_at = state.tensors[key].created_at
        if (
            created_at.calls[:depth] == made.calls
            and created_at.iterations[: len(made.iterations)] == made.iterations
            and key not in outside
        ):
            del state.cycles[key]
            facts.events.publish(GradientCycle(point=cycle.point, leaf=key, past=cycle.point, call=made))
