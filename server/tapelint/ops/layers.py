"""The layers of ``torch.nn`` by class name, parsed when first asked for, like the rows of the table."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path

from tapelint.ops.schema import Layer
from tapelint.ops.table import names
from tapelint.ops.text import parse_layer

LAYERS = Path(__file__).with_name("layers.txt")


@cache
def _lines() -> dict[str, str]:
    lines = LAYERS.read_text(encoding="utf-8").splitlines()
    return {line.partition("(")[0]: line for line in lines if line and not line.startswith("#")}


def layer_names() -> frozenset[str]:
    return frozenset(_lines())


@lru_cache(4096)
def layer(name: str) -> Layer | None:
    """The layer of this class name (``Linear``), ``None`` for a class that is not one of PyTorch's layers."""
    line = _lines().get(name)
    return None if line is None else parse_layer(line)


@cache
def layers_by_op() -> dict[str, str]:
    """The layers that are an op of their own, by its name: ``rnncell`` is what ``nn.RNNCell`` does.

    Where there is a function of that name, too (``linear``, ``relu``), the program may have called that. ``torch.lstm``
    and ``torch.gru`` are not documented: those ops are layers.
    """
    functions = {name.rpartition(".")[2] for name in names()} - {"lstm", "gru"}
    return {name.lower(): name for name in layer_names() if name.lower() not in functions}


def bare(entry: str) -> str:
    """The name of a parameter or buffer without what is said about when it is there."""
    return entry.partition("?")[0]


def is_there(entry: str, asked: Callable[[str], bool | None]) -> bool:
    """Whether a layer has it; ``asked`` tells which arguments of the constructor are given, and whether they are true.

    weight             always
    bias?affine,bias   unless one of the two is false
    bias_k??+add_bias_kv   only if that is true, which it is not by default
    """
    _, marked, rest = entry.partition("?")
    switches = rest.lstrip("?")
    if not marked or not switches:
        return not rest.startswith("?")
    known = {switch: asked(switch.lstrip("+")) for switch in switches.split(",")}
    return all(not switch.startswith("+") if value is None else value for switch, value in known.items())
