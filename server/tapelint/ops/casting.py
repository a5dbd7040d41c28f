"""Which ops save their very inputs under ``torch.autocast``.

Autocast hands most ops that save something a copy of their inputs in another type: matrix products, convolutions and
recurrent cells a shorter one, losses, norms and powers a longer one. A write to the original is then nobody's business.
The ops below are on neither of PyTorch's lists (``ATen/autocast_mode.h``), and were seen to save what they are given.
"""

from __future__ import annotations

UNCAST = frozenset(
    "mul leaky_relu elu gelu silu hardtanh hardswish mish abs sin cos clamp max min square maximum minimum amax amin"
    " threshold softsign atan erf selu celu relu6 hardsigmoid leakyrelu nn.functional.gelu nn.functional.silu"
    " nn.functional.elu nn.functional.leaky_relu nn.functional.hardtanh nn.functional.mish".split()
)
"""Names of rows, and of layers in small letters."""
