"""Which ops save their very inputs under ``torch.autocast``.

Autocast hands most ops that save something a copy of their inputs in another type: matrix products, convolutions and
recurrent cells a shorter one, losses, norms and powers a longer one. A write to the original is then no code's
business. A tensor that has the longer type already is not copied for the latter: they save it as it is.
"""

from __future__ import annotations

UNCAST = frozenset(
    "mul leaky_relu elu gelu silu hardtanh hardswish mish abs sin cos clamp max min square maximum minimum amax amin"
    " threshold softsign atan erf selu celu relu6 hardsigmoid leakyrelu nn.functional.gelu nn.functional.silu"
    " nn.functional.elu nn.functional.leaky_relu nn.functional.hardtanh nn.functional.mish".split()
)
"""Names of rows, and of layers in small letters, that are on neither of PyTorch's lists and were seen to save what
they are given, of whatever type.
"""
SHORTENED = frozenset(
    "addbmm addmm addmv addr baddbmm bilinear bmm chain_matmul conv1d conv2d conv3d conv_depthwise3d conv_tbc"
    " conv_transpose1d conv_transpose2d conv_transpose3d convolution corrcoef cov einsum gru gru_cell inner"
    " linalg_matmul linalg_matrix_power linalg_multi_dot linalg_vecdot linear lstm lstm_cell matmul matrix_power mm mv"
    " nn.functional.linear_cross_entropy prelu rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell"
    " scaled_dot_product_attention tensordot"
    " adaptivelogsoftmaxwithloss convtranspose1d convtranspose2d convtranspose3d grucell lazyconv1d lazyconv2d"
    " lazyconv3d lazyconvtranspose1d lazyconvtranspose2d lazyconvtranspose3d lazylinear linearcrossentropyloss lstmcell"
    " multiheadattention rnn rnncell transformer transformerdecoder transformerdecoderlayer transformerencoder"
    " transformerencoderlayer".split()
)
"""What may compute in a shorter type, on some device, or is made of ops that do. All else was seen to save what it is
given where that is of the default type.
"""


def saves_original(op: str, single: bool) -> bool:
    """Whether ``op`` saves under autocast what it is given, and no copy; ``single``: which is of the default type."""
    return op in UNCAST or single and not may_shorten(op)


def may_shorten(op: str) -> bool:
    return op.removeprefix("Tensor.") in SHORTENED
