"""How the names are written of tensors that are only asked for their number."""

from __future__ import annotations


def number(name: str) -> str:
    """How a name is noted that is only asked for its number, as in ``loss.item()``: its graph does not matter then."""
    return f"{name}.item()"
