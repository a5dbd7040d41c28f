"""How the op table's names look to users, and which of them users never see."""

from __future__ import annotations

_PREFIXES = (
    ("nn.functional.", "F."),
    ("linalg_", "linalg."),
    ("special_", "special."),
    ("fft_", "fft."),
)
_SUBSCRIPTS = {
    "getitem.basic": "x[1:]",
    "getitem.index": "x[index]",
    "setitem.basic": "x[1:] = y",
    "setitem.index": "x[index] = y",
}
_INTERNAL = tuple("_ cudnn_ miopen_ mkldnn_ native_ sparse_ mkl_ quantize linalg__ nn.functional._".split())
_FUNCTIONAL = frozenset(
    "avg_pool2d avg_pool3d elu_ gelu hardtanh_ leaky_relu_ linear max_pool3d_with_indices "
    "scaled_dot_product_attention softplus softshrink".split()
)
"""Rows of kernels that users reach through ``torch.nn.functional`` under the same name."""
_KERNELS = frozenset(
    "adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d binary_cross_entropy "
    "col2im conv_depthwise3d cross_entropy_loss elu flatten_dense_tensors fractional_max_pool2d "
    "fractional_max_pool3d gelu_ glu hardsigmoid hardsigmoid_ hardswish hardswish_ hardtanh huber_loss "
    "im2col l1_loss leaky_relu log_sigmoid max_pool2d_with_indices max_unpool2d max_unpool3d mish mish_ "
    "mse_loss multi_margin_loss multilabel_margin_loss nll_loss pack_padded_sequence pad pad_packed_sequence "
    "pad_sequence reflection_pad1d reflection_pad2d reflection_pad3d relu6 relu6_ replication_pad1d replication_pad2d "
    "replication_pad3d rrelu_with_noise rrelu_with_noise_ silu silu_ slow_conv_dilated2d "
    "slow_conv_dilated3d slow_conv_transpose2d slow_conv_transpose3d smooth_l1_loss soft_margin_loss "
    "upsample_bicubic2d upsample_bilinear2d upsample_linear1d upsample_nearest1d upsample_nearest2d "
    "upsample_nearest3d upsample_trilinear3d".split()
)
"""Rows of kernels that have no public name of their own; a test compares with the installed PyTorch."""
_LEFT_OUT = frozenset(
    "acosh_ arccosh_ arcsinh_ arctanh_ asinh_ atanh_ chain_matmul linalg_matrix_norm to_mkldnn unique "
    "unique_consecutive".split()
)
"""What one word does not describe: the answer depends on an argument's value, or there is no derivative at all."""


def public(name: str) -> bool:
    """Whether users call this and it has one answer; the table also has the kernels below what they call."""
    if name in _KERNELS or name in _LEFT_OUT:
        return False
    return not name.startswith(_INTERNAL) and not name.endswith(("_copy", "_backward"))


def shown(name: str) -> str:
    """A row's name as users write it: ``nn.functional.silu`` is ``F.silu``."""
    if name in _SUBSCRIPTS:
        return _SUBSCRIPTS[name]
    if name in _FUNCTIONAL:
        return f"F.{name}"
    for prefix, short in _PREFIXES:
        if name.startswith(prefix):
            return short + name[len(prefix) :]
    return name
