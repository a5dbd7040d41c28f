"""Backward passes that code which is not read may have run.

lib.accumulate(loss)      # goes backward, or only looks at the number
opt.step()                # so there may be gradients

Unknown code that was given a graph may go backward through it, and so reach the leaves below. Not where a graph has
been freed since: the pass that did so would have raised if another one had come before it.
"""

from __future__ import annotations

from ..model.graph import Leaf
from ..model.graph_search import reachable
from ..state import AutogradState


def perhaps_reached(state: AutogradState) -> set[int]:
    """The leaves to which unknown code may have gone backward."""
    if not state.escaped:
        return set()
    alive = reachable(state.grad_fns(state.escaped), lambda node: node not in state.freed)
    return {item.tensor for item in alive if isinstance(item, Leaf)}
