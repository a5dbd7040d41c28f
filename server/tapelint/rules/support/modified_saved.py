"""What TL201 and TL202 share: PyTorch's error, and who wrote."""

from __future__ import annotations

from ...autograd.events.graph_walks import SavedTensorSpoiled
from ...autograd.facts import Tape

ERROR = "one of the variables needed for gradient computation has been modified by an inplace operation"

REFUSED = "its base or another view of its base has been modified inplace"


def error(event: SavedTensorSpoiled) -> str:
    """What PyTorch says."""
    return REFUSED if event.guarded else ERROR


def is_step(event: SavedTensorSpoiled) -> bool:
    """Whether an optimizer wrote."""
    return event.write.how.endswith(".step")


def in_own_backward(event: SavedTensorSpoiled, tape: Tape) -> bool:
    """Whether the node's own backward, which the program defines, wrote what the node had saved."""
    return tape.inside.get(event.write.stamp) is event.node
