"""What an adaptive average pool saves: that depends on its output size.

F.adaptive_avg_pool2d(x, 1)          the mean over the last dimensions, which saves nothing
F.adaptive_avg_pool2d(x, (1, 2))     saves x
F.adaptive_avg_pool2d(x, size)       who knows: nothing is concluded
"""

from __future__ import annotations

from dataclasses import replace

from ...domain.state import State
from ...domain.values import Const
from ...ops.schema import Op, Saved
from .known_shape import items_in

POOLS = frozenset(
    name
    for dims in (1, 2, 3)
    for name in (
        f"adaptive_avg_pool{dims}d",
        f"nn.functional.adaptive_avg_pool{dims}d",
        f"adaptiveavgpool{dims}d",
    )
)
"""The functions and the layers, as the op table names them."""


def refine_saves(state: State, op: Op, output_size: object) -> Op:
    """The row, with what it saves for this output size."""
    if op.name not in POOLS:
        return op
    sizes = [item.value for item in items_in(state, output_size) or () if isinstance(item, Const)]
    is_wide = any(isinstance(size, int) and size != 1 for size in sizes)
    return replace(op, saves=(Saved(op.params[0].name),) if is_wide else ())
