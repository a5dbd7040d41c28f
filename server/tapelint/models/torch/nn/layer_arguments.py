"""What the constructor of a layer refuses: a keyword that it does not have, a size that is no whole number.

nn.Linear(3, 2, params_dtype=dtype)     TypeError: unexpected keyword argument
nn.Conv2d(c / 2, c, 3)                  TypeError: sizes of tensors are ints
"""

from __future__ import annotations

from collections.abc import Mapping

from ....domain.completion import ProgramRaised
from ....domain.values import Const, Value
from ....ops.layers import LAZY, is_there
from ....ops.schema import Layer

SIZES = frozenset(
    "in_features out_features in_channels out_channels num_embeddings embedding_dim input_size hidden_size "
    "num_features num_channels in1_features in2_features".split()
)
"""Arguments that are sizes of a layer's parameters."""
NOT_IN_ROWS = frozenset(("mode", "nonlinearity"))
"""Arguments of layers that a row does not list: they choose what it is a row of."""


def refuse_arguments(row: Layer, named: Mapping[str, Value], given: Mapping[str, Value]) -> None:
    """Raise the TypeError that making the layer raises. ``named`` are the arguments given by name, ``given`` are all of
    them. Layers without arguments take any (``nn.Identity(54, unused=True)``).
    """
    unexpected = [name for name in named if name.isidentifier() and name not in row.arguments]
    if row.arguments and (unknown := next((name for name in unexpected if name not in NOT_IN_ROWS), None)):
        raise ProgramRaised("TypeError", f"{row.name}.__init__() got an unexpected keyword argument '{unknown}'")
    if not any(is_there(parameter, lambda name: _flag(given, name)) for parameter in row.params):
        return
    if row.name not in LAZY and any(_is_fraction(given.get(name)) for name in SIZES):
        raise ProgramRaised(
            "TypeError", "empty(): argument 'size' must be tuple of ints, but found element of type float"
        )


def _flag(given: Mapping[str, Value], name: str) -> bool | None:
    value = given.get(name)
    return bool(value.value) if isinstance(value, Const) else None


def _is_fraction(value: Value | None) -> bool:
    return isinstance(value, Const) and isinstance(value.value, (float, str, type(None)))
