"""What TL201 and TL202 share: PyTorch's error, and who wrote."""

from __future__ import annotations

from ...autograd.events.graph_walks import SavedTensorModified
from ...autograd.facts import Facts

ERROR = "one of the variables needed for gradient computation has been modified by an inplace operation"

REFUSED = "its base or another view of its base has been modified inplace"


def error(event: SavedTensorModified) -> str:
    """What PyTorch says."""
    return REFUSED if event.guarded else ERROR


def is_step(event: SavedTensorModified) -> bool:
    """Whether an optimizer wrote."""
    return event.write.by_optimizer


def in_own_backward(event: SavedTensorModified, facts: Facts) -> bool:
    """Whether the node's own backward, which the program defines, wrote what the node had saved."""
    return facts.inside.get(event.write.stamp) is event.node
