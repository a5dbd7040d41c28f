"""The sizes of a layer's parameters, from what its constructor was given.

nn.Linear(3, 4)            weight (4, 3), bias (4,)
nn.Conv2d(3, n, 3)         weight (?, ?, ?, ?): four dimensions, which is what `p.ndim < 2` asks for
"""

from __future__ import annotations

from collections.abc import Mapping

from ....autograd import Extent
from ....domain.values import Const, Tuple, Value


def parameter_sizes(layer: str, name: str, given: Mapping[str, Value]) -> Extent:
    """The sizes of a layer's parameter, as far as they are known."""

    def number(argument: str) -> int | None:
        value = given.get(argument)
        return value.value if isinstance(value, Const) and isinstance(value.value, int) else None

    if layer == "Linear":
        out = number("out_features")
        return (out, number("in_features")) if name == "weight" else (out,)
    if layer in ("Embedding", "EmbeddingBag"):
        return (number("num_embeddings"), number("embedding_dim"))
    if layer.startswith("Conv") and layer[-1] == "d":
        if name == "bias":
            return (number("out_channels"),)
        spatial = (None,) * int(layer[-2])
        first, second = number("out_channels"), number("in_channels")
        return (second, first, *spatial) if "Transpose" in layer else (first, None, *spatial)
    if layer.startswith(("BatchNorm", "InstanceNorm")):
        return (number("num_features"),)
    if layer == "GroupNorm":
        return (number("num_channels"),)
    if layer == "LayerNorm":
        shape = given.get("normalized_shape")
        return (None,) * len(shape.items) if isinstance(shape, Tuple) else _one(number("normalized_shape"))
    if layer.removesuffix("Cell") in ("RNN", "LSTM", "GRU"):
        return (None,) * (2 if name.startswith("weight") else 1)
    if layer == "MultiheadAttention" and name.endswith(("_proj_weight", "out_proj.weight")):
        return (None, None)
    return (None,) if layer == "MultiheadAttention" and name.endswith(("proj_bias", "proj.bias")) else None


def _one(size: int | None) -> Extent:
    return None if size is None else (size,)
