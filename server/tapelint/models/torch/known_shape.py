"""What is known of sizes, and how to ask the arguments of an op for them.

x * w      broadcast((None, 3), (3,)) is (None, 3)
x[0, 1:]   indexed((8, 3), ...) is (None,)
[[1, 2]]   displayed as (1, 2)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...autograd import BATCH, MANY, Extent, is_wide
from ...domain.induction import is_number
from ...domain.state import State
from ...domain.values import (
    NONE,
    Const,
    HeapRef,
    Origin,
    Sequence,
    Slice,
    TensorRef,
    Tuple,
    Unknown,
    Value,
    is_counted,
    unknown_number,
)
from ...frozen import frozen

Sizes = tuple[int | None, ...]


@frozen
class Given:
    """The arguments of one op by parameter name."""

    state: State
    named: Mapping[str, object]

    def extent(self, *names: str) -> Extent:
        """What is known of the sizes of the tensor given for the first of ``names`` that was given."""
        for name in names:
            if name in self.named:
                return extent_of(self.state, self.named[name])
        return None

    def sizes(self, *names: str) -> Sizes | None:
        """Its sizes, where they are known."""
        extent = self.extent(*names)
        return extent if isinstance(extent, tuple) else None

    def number(self, name: str, default: int | None = None) -> int | None:
        if name not in self.named:
            return default
        value = self.named[name]
        return value.value if isinstance(value, Const) and isinstance(value.value, int) else None

    def numbers(self, name: str) -> list[int | None] | None:
        """A list of sizes or dimensions: ``view(2, -1)``, ``view((2, -1))``, ``sum(1)``."""
        value = self.named.get(name)
        if isinstance(value, tuple) and len(value) == 1 and not isinstance(value[0], Const):
            value = value[0]
        items = items_in(self.state, value)
        if items is None:
            return None
        return [i.value if isinstance(i, Const) and isinstance(i.value, int) else None for i in items]

    def keeps(self) -> bool:
        return self.named.get("keepdim") == Const(True)


def extent_of(state: State, value: object) -> Extent:
    """What is known of the sizes of a value used as a tensor; a plain number has none."""
    if isinstance(value, TensorRef):
        return state.tensors[value.id].sizes
    if isinstance(value, Const) and isinstance(value.value, (int, float)):
        return ()
    return None


def shape(extent: Extent, dim: Value = NONE) -> Value:
    """``x.shape``, or one of its sizes, as far as they are known."""
    if not isinstance(extent, tuple):
        return unknown_number()
    sizes = tuple(unknown_number() if size is None else Const(size) for size in extent)
    if dim == NONE:
        return Tuple(sizes, is_spelled=True)
    place = dim.value if isinstance(dim, Const) and isinstance(dim.value, int) else None
    return sizes[place] if place is not None and -len(sizes) <= place < len(sizes) else unknown_number()


def rank(extent: Extent) -> Value:
    """``x.ndim``, as far as it is known."""
    return Const(len(extent)) if isinstance(extent, tuple) else unknown_number()


def asked_for(args: Iterable[Value]) -> Extent:
    """The sizes that the arguments of ``torch.Tensor(4, 3)`` are; None where they are data, or may be. What is not
    known may be all sizes of a tensor, or one; several are one each, whatever is known of them.
    """
    sizes = list(args)
    if not is_counted(sizes) or len(sizes) == 1 and (not is_number(sizes[0]) or isinstance(sizes[0], Unknown)):
        return None
    return tuple(arg.value if isinstance(arg, Const) and isinstance(arg.value, int) else None for arg in sizes) or (0,)


def items_in(state: State, value: object) -> list[Value] | None:
    """The items of a number, several arguments, a tuple or a list; None where it is not known how many there are."""
    if isinstance(value, Const):
        return [value]
    if isinstance(value, (tuple, Tuple)):
        items = list(value if isinstance(value, tuple) else value.items)
        return items if is_counted(items) else None
    if isinstance(value, HeapRef) and isinstance(thing := state.heap[value.id], Sequence) and not thing.is_partial:
        return thing.items
    return None


def broadcast(*extents: Extent) -> Extent:
    """The common sizes. What is known not to be 1 survives whatever it is combined with."""
    known = [extent for extent in extents if isinstance(extent, tuple)]
    if len(known) < len(extents):
        return MANY if any(map(is_wide, extents)) else BATCH if BATCH in extents else None
    result: list[int | None] = []
    for index in range(1, max(map(len, known), default=0) + 1):
        column = [sizes[-index] for sizes in known if len(sizes) >= index]
        large = [size for size in column if size not in (1, None)]
        result.append(large[0] if large else None if None in column else 1)
    return tuple(reversed(result))


def displayed(state: State, value: Value, above: tuple[Value, ...] = ()) -> Extent:
    """The sizes of a tensor made from nested lists of numbers; ``above`` are the lists that this one was found in."""
    if isinstance(value, Const) and isinstance(value.value, (int, float)):
        return ()
    items = items_in(state, value) if isinstance(value, (HeapRef, Tuple)) and value not in above else None
    if items is None:
        return extent_of(state, value)
    inner = displayed(state, items[0], (*above, value)) if items else ()
    return (len(items), *inner) if isinstance(inner, tuple) else MANY if len(items) > 1 else None


def indexed(extent: Extent, index: Value) -> Extent:
    """The sizes of a view by numbers, slices, None and an ellipsis."""
    parts = list(index.items) if isinstance(index, Tuple) else [index]
    if not isinstance(extent, tuple):
        return None
    rest, result = list(extent), list[int | None]()
    for place, part in enumerate(parts):
        if part == Const(...):
            after = sum(1 for later in parts[place + 1 :] if later != NONE)
            kept = len(rest) - after
            result, rest = result + rest[:kept], rest[kept:]
        elif part == NONE:
            result.append(1)
        elif not rest or isinstance(part, Unknown) and part.origin is not Origin.NUMBER:
            return None
        else:
            size = rest.pop(0)
            if isinstance(part, Slice):
                result.append(sliced(size, part))
    return (*result, *rest)


def sliced(size: int | None, part: Slice) -> int | None:
    """The size of what a slice takes. A negative one is that of data which is not there (``len([]) - 1``)."""
    bounds = [b.value if isinstance(b, Const) else "?" for b in (part.start, part.stop, part.step)]
    if bounds == [None, None, None]:
        return size
    if size is None or size < 0 or not all(b is None or isinstance(b, int) for b in bounds) or bounds[2] == 0:
        return None
    return len(range(*slice(*bounds).indices(size)))
