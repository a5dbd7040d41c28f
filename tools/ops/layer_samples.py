"""How to construct and call each layer of ``torch.nn``: PyTorch's own samples (``module_db``), or ours."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import torch
from tools.ops.quiet import quiet
from torch import Tensor, nn


class Sample(NamedTuple):
    make: tuple[tuple[Any, ...], dict[str, Any]]
    call: tuple[tuple[Any, ...], dict[str, Any]]


def _x(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def _sample(*arguments: Any, inputs: tuple[Any, ...], **keywords: Any) -> Callable[[], Sample]:
    return lambda: Sample((arguments, keywords), (inputs, {}))


def _single(*shape: int) -> Tensor:
    """An LSTM of the default type is one op, which saves its result; of any other it is made of many."""
    return _x(*shape).float()


def _state(name: str) -> Any:
    """What a recurrent layer takes as its state."""
    return (_single(1, 2, 4), _single(1, 2, 4)) if name == "LSTM" else _single(1, 2, 4)


def _with_state(name: str) -> Sample:
    return Sample(((3, 4), {}), ((_single(5, 2, 3), _state(name)), {}))


_POOLED = (_x(1, 2, 4), torch.arange(4).expand(1, 2, 4) * 2)
_POOLED2 = (_x(1, 2, 4, 4), (torch.arange(16) * 4).reshape(4, 4).expand(1, 2, 4, 4))
_POOLED3 = (_x(1, 2, 2, 2, 2), (torch.arange(8) * 8).reshape(2, 2, 2).expand(1, 2, 2, 2, 2))
_TRIPLET = (_x(3, 4), _x(3, 4), _x(3, 4))

HAND: dict[str, tuple[Callable[[], Sample], ...]] = {
    **{
        name: (_sample(inputs=(_x(6, 6, 6),)), _sample(0.3, inputs=(_x(6, 6, 6),)))
        for name in ("Dropout", "AlphaDropout", "FeatureAlphaDropout", "Dropout1d")
    },
    "Dropout2d": (_sample(inputs=(_x(6, 6, 3, 3),)),),
    "Dropout3d": (_sample(inputs=(_x(6, 6, 3, 3, 3),)),),
    **{
        name: (
            _sample(3, 4, inputs=(_single(5, 2, 3),)),
            _sample(3, 4, num_layers=2, batch_first=True, inputs=(_single(2, 5, 3),)),
            _sample(3, 4, bidirectional=True, inputs=(_single(5, 2, 3),)),
            partial(_with_state, name),
        )
        for name in ("RNN", "GRU", "LSTM")
    },
    "HingeEmbeddingLoss": (_sample(inputs=(_x(3, 4), _x(3, 4).sign())),),
    "MarginRankingLoss": (_sample(inputs=(_x(3, 4), _x(3, 4), _x(3, 4).sign())),),
    "CrossEntropyLoss": (
        _sample(inputs=(_x(3, 4), torch.tensor([0, 1, 3]))),
        _sample(torch.rand(4).double(), inputs=(_x(3, 4), torch.tensor([0, 1, 3]))),
        _sample(label_smoothing=0.1, inputs=(_x(3, 4), torch.tensor([0, 1, 3]))),
        _sample(inputs=(_x(3, 4), _x(3, 4).softmax(1))),
        _sample(inputs=(_x(2, 4, 5), torch.ones(2, 5, dtype=torch.int64))),
    ),
    "NLLLoss": (
        _sample(inputs=(_x(3, 4), torch.tensor([0, 1, 3]))),
        _sample(torch.rand(4).double(), inputs=(_x(3, 4), torch.tensor([0, 1, 3]))),
        _sample(inputs=(_x(2, 4, 5, 5), torch.ones(2, 5, 5, dtype=torch.int64))),
    ),
    "AdaptiveLogSoftmaxWithLoss": (_sample(32, 10, [3, 6], inputs=(_x(5, 32), torch.tensor([0, 2, 4, 7, 9]))),),
    "ChannelShuffle": (_sample(2, inputs=(_x(1, 4, 3, 3),)),),
    "CosineSimilarity": (_sample(inputs=(_x(3, 4), _x(3, 4))),),
    "CrossMapLRN2d": (_sample(2, inputs=(_x(1, 4, 3, 3),)),),
    "EmbeddingBag": (
        _sample(5, 3, inputs=(torch.tensor([[0, 1], [2, 4]]),)),
        _sample(5, 3, inputs=(torch.tensor([0, 1, 4]), torch.tensor([0, 2]))),
    ),
    "Embedding": (
        _sample(5, 3, inputs=(torch.tensor([[0, 1], [2, 4]]),)),
        _sample(5, 3, padding_idx=0, inputs=(torch.tensor([0, 1, 4]),)),
    ),
    "Flatten": (_sample(inputs=(_x(2, 3, 4),)), _sample(inputs=(_x(2, 4, 3).transpose(1, 2),))),
    "Fold": (_sample((4, 5), (2, 2), inputs=(_x(1, 12, 12),)),),
    "Unfold": (_sample((2, 2), inputs=(_x(1, 3, 6, 6),)),),
    "Hardsigmoid": (_sample(inputs=(_x(3, 4),)),),
    "Identity": (_sample(inputs=(_x(3, 4),)),),
    "MaxUnpool1d": (_sample(2, inputs=_POOLED),),
    "MaxUnpool2d": (_sample(2, inputs=_POOLED2),),
    "MaxUnpool3d": (_sample(2, inputs=_POOLED3),),
    "NLLLoss2d": (_sample(inputs=(_x(2, 3, 4, 4), torch.ones(2, 4, 4, dtype=torch.int64))),),
    "PairwiseDistance": (_sample(inputs=(_x(3, 4), _x(3, 4))),),
    "PixelShuffle": (_sample(2, inputs=(_x(1, 4, 3, 3),)),),
    "PixelUnshuffle": (_sample(2, inputs=(_x(1, 1, 4, 4),)),),
    "RReLU": (_sample(inputs=(_x(3, 4),)),),
    "Softmax2d": (_sample(inputs=(_x(1, 2, 3, 4),)),),
    "TransformerDecoder": (
        lambda: Sample(((nn.TransformerDecoderLayer(4, 2, 8), 2), {}), ((_x(3, 2, 4), _x(3, 2, 4)), {})),
    ),
    "TransformerEncoder": (lambda: Sample(((nn.TransformerEncoderLayer(4, 2, 8), 2), {}), ((_x(3, 2, 4),), {})),),
    "Transformer": (lambda: Sample(((4, 2, 2, 2, 8), {}), ((_x(3, 2, 4), _x(3, 2, 4)), {})),),
    "TransformerEncoderLayer": (
        _sample(4, 2, 8, inputs=(_x(3, 2, 4),)),
        _sample(4, 2, 8, batch_first=True, norm_first=True, inputs=(_x(3, 2, 4),)),
        _sample(4, 2, 8, bias=False, activation="gelu", inputs=(_x(3, 2, 4),)),
    ),
    "TransformerDecoderLayer": (
        _sample(4, 2, 8, inputs=(_x(3, 2, 4), _x(3, 2, 4))),
        _sample(4, 2, 8, bias=False, batch_first=True, norm_first=True, inputs=(_x(3, 2, 4), _x(3, 2, 4))),
    ),
    "MultiheadAttention": (
        _sample(4, 2, inputs=(_x(3, 2, 4), _x(3, 2, 4), _x(3, 2, 4))),
        _sample(4, 2, batch_first=True, bias=False, inputs=(_x(3, 2, 4), _x(3, 2, 4), _x(3, 2, 4))),
        _sample(4, 2, add_bias_kv=True, inputs=(_x(3, 2, 4), _x(3, 2, 4), _x(3, 2, 4))),
        _sample(4, 2, kdim=3, vdim=5, inputs=(_x(3, 2, 4), _x(3, 2, 3), _x(3, 2, 5))),
    ),
    "TripletMarginLoss": (_sample(inputs=_TRIPLET),),
    "TripletMarginWithDistanceLoss": (_sample(inputs=_TRIPLET),),
    "Unflatten": (_sample(1, (2, 2), inputs=(_x(3, 4),)),),
    "Upsample": (
        _sample(scale_factor=2, inputs=(_x(1, 2, 3, 3),)),
        _sample((4, 4), mode="bilinear", inputs=(_x(1, 2, 3, 3),)),
    ),
    "UpsamplingBilinear2d": (_sample(scale_factor=2, inputs=(_x(1, 2, 3, 3),)),),
    "UpsamplingNearest2d": (_sample(scale_factor=2, inputs=(_x(1, 2, 3, 3),)),),
}
# Not layers: containers of other modules, and bases that cannot be called.
NOT_LAYERS = frozenset(
    """Module Container ModuleDict ModuleList ParameterDict ParameterList RNNBase RNNCellBase Sequential
    DataParallel""".split()
)


@cache
def by_class() -> dict[str, list[Sample]]:
    from torch.testing._internal.common_modules import module_db

    found: dict[str, list[Sample]] = {}
    with quiet():
        torch.default_generator.manual_seed(0)
        for info in module_db:
            name = info.module_cls.__name__
            if getattr(nn, name, None) is info.module_cls and name not in HAND:
                inputs = info.module_inputs_func(
                    info, device="cpu", dtype=torch.float64, requires_grad=False, training=True
                )
                found[name] = [_from(module_input) for module_input in inputs]
    found.update({name: [make() for make in samples] for name, samples in HAND.items()})
    for name, samples in found.items():
        if issubclass(getattr(nn, name), nn.RNNCellBase):
            samples += [_batched(sample) for sample in samples]
    return found


def _batched(sample: Sample) -> Sample:
    """The same with two of everything: the samples of cells have no batch, with which other nodes come last."""
    inputs, keywords = sample.call
    return Sample(sample.make, (tuple(map(_two, inputs)), keywords))


def _two(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_two, value))
    return torch.stack([value, value]) if isinstance(value, Tensor) else value


def _from(module_input: Any) -> Sample:
    make, call = module_input.constructor_input, module_input.forward_input
    return Sample((tuple(make.args), dict(make.kwargs)), (tuple(call.args), dict(call.kwargs)))
