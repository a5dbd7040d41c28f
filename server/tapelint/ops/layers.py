"""The layers of ``torch.nn`` by class name, parsed when first asked for, like the rows of the table; and which class
each is derived from, by their names there; tests compare this with PyTorch.

Conv2d            _ConvNd
LazyConv2d        Conv2d, which it becomes in its first call
LazyBatchNorm2d   _BatchNorm; it becomes a BatchNorm2d
Dropout           _DropoutNd
Flatten           Module
"""

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


def switches(entry: str) -> list[str]:
    """The arguments of the constructor that decide whether a layer has it."""
    return [name.lstrip("+") for name in entry.partition("?")[2].lstrip("?").split(",") if name]


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


ROOT = "Module"
DERIVED = {
    "Linear": "NonDynamicallyQuantizableLinear",
    "Hardtanh": "ReLU6",
    "NLLLoss": "NLLLoss2d",
    "RNNBase": "GRU LSTM RNN",
    "RNNCellBase": "GRUCell LSTMCell RNNCell",
    "Upsample": "UpsamplingBilinear2d UpsamplingNearest2d",
    "_ConvNd": "Conv1d Conv2d Conv3d _ConvTransposeNd",
    "_ConvTransposeNd": "ConvTranspose1d ConvTranspose2d ConvTranspose3d",
    "_NormBase": "_BatchNorm _InstanceNorm",
    "_BatchNorm": "BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm",
    "_InstanceNorm": "InstanceNorm1d InstanceNorm2d InstanceNorm3d",
    "_DropoutNd": "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout",
    "_AvgPoolNd": "AvgPool1d AvgPool2d AvgPool3d",
    "_MaxPoolNd": "MaxPool1d MaxPool2d MaxPool3d",
    "_AdaptiveAvgPoolNd": "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d",
    "_AdaptiveMaxPoolNd": "AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d",
    "_MaxUnpoolNd": "MaxUnpool1d MaxUnpool2d MaxUnpool3d",
    "_LPPoolNd": "LPPool1d LPPool2d LPPool3d",
    "_ConstantPadNd": "ConstantPad1d ConstantPad2d ConstantPad3d",
    "ConstantPad1d": "ZeroPad1d",
    "ConstantPad2d": "ZeroPad2d",
    "ConstantPad3d": "ZeroPad3d",
    "_CircularPadNd": "CircularPad1d CircularPad2d CircularPad3d",
    "_ReflectionPadNd": "ReflectionPad1d ReflectionPad2d ReflectionPad3d",
    "_ReplicationPadNd": "ReplicationPad1d ReplicationPad2d ReplicationPad3d",
    "_Loss": "BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss GaussianNLLLoss HingeEmbeddingLoss HuberLoss "
    "KLDivLoss L1Loss MSELoss MarginRankingLoss MultiLabelMarginLoss PoissonNLLLoss SmoothL1Loss "
    "SoftMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss _WeightedLoss",
    "_WeightedLoss": "BCELoss CrossEntropyLoss LinearCrossEntropyLoss MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss",
}
"""The classes that are derived from another one than ``Module``, by that one."""
LAZY = {
    **{f"Lazy{name}": name for name in DERIVED["_InstanceNorm"].split()},
    **{f"Lazy{kind}{rank}d": f"{kind}{rank}d" for kind in ("BatchNorm", "Conv", "ConvTranspose") for rank in (1, 2, 3)},
    "LazyLinear": "Linear",
}
"""The layers that find their sizes in their first call, and the class that they are of from then on."""
WITHOUT_OPS = (
    *("Container", "DataParallel", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList"),
    *("RNNBase", "RNNCellBase", "Sequential", "SyncBatchNorm"),
)
"""Layers that the table of what autograd records does not have."""


@cache
def bases() -> dict[str, str]:
    """Every layer that is known, and the class that it is derived from."""
    derived = {child: base for base, children in DERIVED.items() for child in children.split()}
    norms = {
        lazy: derived[final] for lazy, final in LAZY.items() if derived.get(final) in ("_BatchNorm", "_InstanceNorm")
    }
    return {**dict.fromkeys((*layer_names(), *WITHOUT_OPS, *DERIVED), ROOT), **derived, **LAZY, **norms}


def base_of(name: str) -> str | None:
    """The class that a layer is derived from; None for ``Module`` itself and for what is no layer that is known."""
    return bases().get(name)
