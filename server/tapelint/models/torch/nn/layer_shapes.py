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
    match layer:
        case "Linear":
            out = _number(given, "out_features")
            return (out, _number(given, "in_features")) if name == "weight" else (out,)
        case "Embedding" | "EmbeddingBag":
            return (_number(given, "num_embeddings"), _number(given, "embedding_dim"))
        case "GroupNorm":
            return (_number(given, "num_channels"),)
        case "LayerNorm":
            return _normalized(given)
        case "RNN" | "LSTM" | "GRU" | "RNNCell" | "LSTMCell" | "GRUCell":
            return (None,) * (2 if name.startswith("weight") else 1)
        case "MultiheadAttention":
            return _attention(name)
    if layer.startswith("Conv") and layer[-1] == "d":
        return _convolution(layer, name, given)
    return (_number(given, "num_features"),) if layer.startswith(("BatchNorm", "InstanceNorm")) else None


def _number(given: Mapping[str, Value], argument: str) -> int | None:
    """An argument of the constructor; None where it is no number, or not known."""
    value = given.get(argument)
    return value.value if isinstance(value, Const) and isinstance(value.value, int) else None


def _convolution(layer: str, name: str, given: Mapping[str, Value]) -> Extent:
    """Of ``Conv2d`` and its kind: channels, then one size for each dimension of the kernel."""
    if name == "bias":
        return (_number(given, "out_channels"),)
    spatial = (None,) * int(layer[-2])
    first, second = _number(given, "out_channels"), _number(given, "in_channels")
    return (second, first, *spatial) if "Transpose" in layer else (first, None, *spatial)


def _normalized(given: Mapping[str, Value]) -> Extent:
    """Of ``LayerNorm``: the shape it was given, or its one size."""
    shape = given.get("normalized_shape")
    if isinstance(shape, Tuple):
        return (None,) * len(shape.items)
    size = _number(given, "normalized_shape")
    return None if size is None else (size,)


def _attention(name: str) -> Extent:
    """Of ``MultiheadAttention``: how many dimensions its projections have."""
    if name.endswith(("_proj_weight", "out_proj.weight")):
        return (None, None)
    return (None,) if name.endswith(("proj_bias", "proj.bias")) else None
