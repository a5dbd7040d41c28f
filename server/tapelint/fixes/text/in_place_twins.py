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

FUNCTION_ARGUMENT = {
    f"torch.nn.functional.{name}": index
    for index, names in {
        1: "hardsigmoid hardswish mish relu relu6 selu silu",
        2: "celu elu leaky_relu",
        3: "alpha_dropout dropout dropout1d dropout2d dropout3d feature_alpha_dropout hardtanh threshold",
        4: "rrelu",
    }.items()
    for name in names.split()
}
LAYER_ARGUMENT = {
    f"torch.nn.{name}": index
    for index, names in {
        0: "Hardsigmoid Hardswish Mish ReLU ReLU6 SELU SiLU",
        1: "AlphaDropout CELU Dropout Dropout1d Dropout2d Dropout3d ELU FeatureAlphaDropout LeakyReLU",
        2: "Hardtanh RReLU Threshold",
    }.items()
    for name in names.split()
}
"""Where functions and layers take ``inplace`` by position."""
