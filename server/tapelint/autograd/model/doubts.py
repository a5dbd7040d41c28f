"""Tensors that are perhaps the same memory, or the same tensor: what one of them is made the other perhaps is as well.

flat = x.reshape(-1)     a view of x, or a copy
y = x.to(device)         x itself, or a copy
"""

from __future__ import annotations

from dataclasses import replace

from ..facts import Facts
from ..state import AutogradState
from .graph import Tensor


def doubt_maybe_viewed(facts: Facts, state: AutogradState, written: Tensor) -> None:
    """``flat = x.reshape(-1)``: a write gave one of the two a graph, and the other is perhaps the same memory."""
    whole = written.id if written.base is None else written.base
    for pair in facts.maybe_viewed.items():
        for key in pair if whole in pair else ():
            other = state.tensors.get(key)
            if key != whole and other is not None and other.requires_grad is False:
                state.tensors[key] = replace(other, requires_grad=None)


def doubt_maybe_same(facts: Facts, state: AutogradState, changed: int) -> None:
    """``y = x.to(device)``: one of the two now requires grad, and the other is perhaps the same tensor."""
    reached, found = {changed}, [changed] if facts.maybe_same else []
    for key in found:  # grows
        found += {each for pair in facts.maybe_same.items() if key in pair for each in pair} - reached
        reached.update(found)
    for key in reached - {changed}:
        other = state.tensors.get(key)
        if other is not None and other.requires_grad is False:
            state.tensors[key] = replace(other, requires_grad=None)
