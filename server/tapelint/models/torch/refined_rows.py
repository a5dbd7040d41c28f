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

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod

from ...autograd import Facts
from ...domain.state import State
from ...domain.values import Const, TensorRef
from ...ops.schema import Op, Saved
from .known_shape import Given, Sizes, items_in
from .tensor_shapes import viewed

Named = Mapping[str, object]
Refinement = Callable[[Facts, State, Op, Named], Op]
"""Gives the row for the arguments of one call."""


def _complex_only(facts: Facts, state: State, op: Op, named: Named) -> Op:
    """What is of single precision is not complex: it comes back."""
    value = named.get("self")
    return replace(op, view="same") if isinstance(value, TensorRef) and facts.is_single(value.id) else op


def _positive(facts: Facts, state: State, op: Op, named: Named) -> Op:
    return replace(op, view="same") if isinstance(named.get("self"), TensorRef) else op


def _flattened(facts: Facts, state: State, op: Op, named: Named) -> Op:
    """``x.flatten(-1)``: where no two dimensions are joined, x comes back."""
    given = Given(state, named)
    sizes, start, end = given.sizes("self"), given.number("start_dim", 0), given.number("end_dim", -1)
    joins = not sizes or start is None or end is None or start % len(sizes) != end % len(sizes)
    return op if joins else replace(op, view="same")


def _reshaped(facts: Facts, state: State, op: Op, named: Named) -> Op:
    """A view for certain where dimensions are only taken apart."""
    given = Given(state, named)
    sizes = given.sizes("self")
    wanted = None if sizes is None else viewed(given) if op.name == "reshape" else given.extent("other")
    is_view = sizes is not None and isinstance(wanted, tuple) and _only_splits(sizes, wanted)
    return replace(op, view="view") if is_view else op


def _summed(facts: Facts, state: State, op: Op, named: Named) -> Op:
    """``x.sum_to_size(4)``: new memory where anything is summed."""
    given = Given(state, named)
    sizes, wanted = given.sizes("self"), given.numbers("size")
    if sizes is None or wanted is None or None in wanted or None in sizes:
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


def _pooled(facts: Facts, state: State, op: Op, named: Named) -> Op:
    """An adaptive average pool, with what it saves for this output size."""
    sizes = [item.value for item in items_in(state, named.get("output_size")) or () if isinstance(item, Const)]
    is_wide = any(isinstance(size, int) and size != 1 for size in sizes)
    return replace(op, saves=(Saved(op.params[0].name),) if is_wide else ())


REFINEMENTS: Mapping[str, Refinement] = {
    "positive": _positive,
    "flatten": _flattened,
    "reshape": _reshaped,
    "reshape_as": _reshaped,
    "sum_to_size": _summed,
    **dict.fromkeys(("conj", "conj_physical", "real", "resolve_conj", "resolve_neg"), _complex_only),
    **{
        pattern.format(dims): _pooled
        for dims in (1, 2, 3)
        for pattern in ("adaptive_avg_pool{}d", "nn.functional.adaptive_avg_pool{}d", "adaptiveavgpool{}d")
    },
}
"""The ops, and layers in small letters, whose row depends on the arguments: no other is asked."""
