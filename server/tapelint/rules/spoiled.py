"""What TL201 and TL202 share: PyTorch's error, and who wrote."""

from __future__ import annotations

from ..tape.events import SavedTensorSpoiled

ERROR = "one of the variables needed for gradient computation has been modified by an inplace operation"


def is_step(event: SavedTensorSpoiled) -> bool:
    """Whether an optimizer wrote."""
    return event.write.how.endswith(".step")
