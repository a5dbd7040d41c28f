"""Which class each layer of ``torch.nn`` is derived from, by their names there; tests compare this with PyTorch.

Conv2d            _ConvNd
LazyConv2d        Conv2d, which it becomes in its first call
LazyBatchNorm2d   _BatchNorm; it becomes a BatchNorm2d
Dropout           _DropoutNd
Flatten           Module
"""

from __future__ import annotations

from functools import cache

from .layers import layer_names

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
