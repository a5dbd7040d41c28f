"""Which in-place operations of torch have a twin that leaves its operand alone, measured from torch 2.13."""

from __future__ import annotations

METHODS = frozenset(
    "abs absolute acos acosh add addbmm addcdiv addcmul addmm addmv addr arccos arccosh arcsin arcsinh arctan arctan2"
    " arctanh asin asinh atan atan2 atanh baddbmm ceil clamp clamp_max clamp_min clip conj_physical copysign cos cosh"
    " cumprod cumsum deg2rad detach digamma div divide erf erfc erfinv exp exp2 expm1 fix floor floor_divide fmod frac"
    " heaviside hypot i0 igamma igammac index_add index_copy index_fill index_put index_reduce ldexp lerp lgamma log"
    " log10 log1p log2 logit masked_fill masked_scatter mul multiply mvlgamma nan_to_num neg negative nextafter"
    " polygamma pow put rad2deg reciprocal relu remainder renorm round rsqrt scatter scatter_add scatter_reduce"
    " sgn sigmoid sign sin sinc sinh sqrt square squeeze sub subtract swapaxes swapdims t tan tanh transpose tril triu"
    " true_divide trunc unsqueeze xlogy".split()
)
"""``x.<name>_()`` and ``x.<name>()`` compute the same; not so comparisons, whose twin gives booleans, or ``resize``."""

FUNCTIONS = METHODS | frozenset(
    "alpha_dropout celu dropout elu feature_alpha_dropout feature_dropout hardtanh leaky_relu rrelu selu"
    " threshold".split()
)
"""``torch.<name>_(x)`` or ``torch.nn.functional.<name>_(x)`` and the same without underscore."""

VIEWS = frozenset(
    "T H mT mH data real imag as_strided contiguous detach diagonal expand expand_as flatten movedim narrow permute"
    " ravel reshape select squeeze swapaxes swapdims t to transpose type unflatten unfold unsqueeze view"
    " view_as".split()
)
"""Methods and attributes whose result may be the memory they were called on."""

ARGUMENT = {
    "torch.nn.functional.": {
        **{"alpha_dropout": 3, "celu": 2, "dropout": 3, "dropout1d": 3, "dropout2d": 3, "dropout3d": 3, "elu": 2},
        **{"feature_alpha_dropout": 3, "hardsigmoid": 1, "hardswish": 1, "hardtanh": 3, "leaky_relu": 2, "mish": 1},
        **{"relu": 1, "relu6": 1, "rrelu": 4, "selu": 1, "silu": 1, "threshold": 3},
    },
    "torch.nn.": {
        **{"AlphaDropout": 1, "CELU": 1, "Dropout": 1, "Dropout1d": 1, "Dropout2d": 1, "Dropout3d": 1, "ELU": 1},
        **{"FeatureAlphaDropout": 1, "Hardsigmoid": 0, "Hardswish": 0, "Hardtanh": 2, "LeakyReLU": 1, "Mish": 0},
        **{"RReLU": 2, "ReLU": 0, "ReLU6": 0, "SELU": 0, "SiLU": 0, "Threshold": 2},
    },
}
"""Where functions and layers take ``inplace`` by position."""
