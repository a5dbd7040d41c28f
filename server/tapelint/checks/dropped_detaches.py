"""Statements that detach a tensor and give the result to nobody.

    target.detach()                      another tensor, which is gone: `target` keeps its graph
    F.mse_loss(net(x), target).backward()

Whether that matters a later backward shows, which walks the graph of the tensor or reaches the leaf that it is.
"""

from __future__ import annotations

from ..autograd import Cut, Leaf, Node
from ..autograd.events.broken_graph import DetachDropped
from ..autograd.model.guesses import assumed_below
from ..because import NOTHING
from ..domain.state import State
from ..engine.lifecycle import BackwardEnded
from ..engine.machine import Machine


def on_backward_ended(machine: Machine, event: BackwardEnded) -> None:
    """Publish the cuts whose results were dropped before, and from the other side of which a pass has gone on."""
    dropped = machine.facts.origins.dropped
    cuts = [(key, cut) for key, cut in machine.facts.cuts() if cut.point.node in dropped] if dropped else []
    if not cuts:
        return
    state, walked = event.state, event.nodes()
    for key, cut in cuts:
        if _is_walked(state, walked, key, cut):
            because = NOTHING if cut.source is None else assumed_below(state, cut.source)
            walk = state.point(event.call)
            machine.facts.events.publish(DetachDropped(point=cut.point, source=cut.source, walk=walk, because=because))


def _is_walked(state: State, walked: set[Node], key: int, cut: Cut) -> bool:
    """Whether a pass has walked the graph that a cut has left, or reached the leaf that was cut, whose memory ``key``
    has.
    """
    if cut.source is not None or key not in state.tensors:
        return cut.source in walked
    memory = state.tensors[key].storage
    leaves = {item.tensor for node in walked for item in node.inputs if isinstance(item, Leaf)}
    return any(state.tensors[leaf].storage == memory for leaf in leaves)
