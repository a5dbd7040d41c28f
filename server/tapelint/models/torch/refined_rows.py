"""Rows of the op table that depend on the arguments of a call.

Whether an op that returns a view, a copy or its very argument (``maybe`` in its row) returns a copy this time:

x.positive(), x.flatten(-1)     x itself
x.sum_to_size(x.shape)          x itself
x.t().reshape(2, 2, 4)          a view of it: to take a dimension apart nothing needs to be moved
x.t().reshape(16)               who knows: a view only where the elements are in order

What an adaptive average pool saves:

F.adaptive_avg_pool2d(x, 1)          the mean over the last dimensions, which saves nothing
F.adaptive_avg_pool2d(x, (1, 2))     saves x
F.adaptive_avg_pool2d(x, size)       who knows: nothing is concluded
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from ...autograd import Facts
from ...domain.state import State
from ...domain.values import Const, TensorRef
from ...ops.schema import Op, Saved
from .known_shape import Given, Sizes, items_in
from .tensor_shapes import viewed

REAL = frozenset("conj conj_physical real resolve_conj resolve_neg".split())
"""What these do concerns complex numbers only."""


def refine_view(facts: Facts, state: State, op: Op, named: Mapping[str, object]) -> Op:
    """The row, with the ``view`` it has for these arguments, where that is certain."""
    value = named.get("self")
    if op.view != "maybe" or not isinstance(value, TensorRef):
        return op
    given = Given(state, named)
    sizes = given.sizes("self")
    if op.name == "positive" or op.name in REAL and facts.is_single(value.id):
        return replace(op, view="same")
    return op if sizes is None else _resized(op, sizes, given)


def _resized(op: Op, sizes: Sizes, given: Given) -> Op:
    """The row of an op that gives a tensor of these ``sizes`` other ones."""
    match op.name:
        case "flatten" if sizes:
            start, end = given.number("start_dim", 0), given.number("end_dim", -1)
            joins = start is None or end is None or start % len(sizes) != end % len(sizes)
            return op if joins else replace(op, view="same")
        case "sum_to_size":
            return _summed(op, sizes, given.numbers("size"))
        case "reshape" | "reshape_as":
            wanted = viewed(given) if op.name == "reshape" else given.extent("other")
            return replace(op, view="view") if isinstance(wanted, tuple) and _only_splits(sizes, wanted) else op
        case _:
            return op


def _summed(op: Op, sizes: Sizes, wanted: list[int | None] | None) -> Op:
    """``x.sum_to_size(4)``: new memory where anything is summed."""
    if wanted is None or None in wanted or None in sizes:
        return op
    if wanted == [*sizes]:
        return replace(op, view="same")
    return replace(op, view="") if prod(n or 0 for n in wanted) < prod(n or 0 for n in sizes) else op


def _only_splits(old: Sizes, new: Sizes) -> bool:
    """Whether each old dimension is one or several of the new ones, in order."""
    left = list(new)
    for size in old:
        product = 1
        while product != size or left and left[0] == 1:
            if not left or size is None or (part := left.pop(0)) is None:
                return False
            product *= part
            if product > size:
                return False
    return not left


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
    """The row of an adaptive average pool, with what it saves for this output size."""
    if op.name not in POOLS:
        return op
    sizes = [item.value for item in items_in(state, output_size) or () if isinstance(item, Const)]
    is_wide = any(isinstance(size, int) and size != 1 for size in sizes)
    return replace(op, saves=(Saved(op.params[0].name),) if is_wide else ())
