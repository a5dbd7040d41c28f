"""The layers of ``torch.nn`` by class name, parsed when first asked for, like the rows of the table."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tapelint.ops.schema import Layer
from tapelint.ops.text import parse_layer

LAYERS = Path(__file__).with_name("layers.txt")


@cache
def _lines() -> dict[str, str]:
    lines = LAYERS.read_text(encoding="utf-8").splitlines()
    return {line.partition("(")[0]: line for line in lines if line and not line.startswith("#")}


def layer_names() -> frozenset[str]:
    return frozenset(_lines())


@cache
def layer(name: str) -> Layer | None:
    """The layer of this class name (``Linear``), ``None`` for a class that is not one of PyTorch's layers."""
    line = _lines().get(name)
    return None if line is None else parse_layer(line)
