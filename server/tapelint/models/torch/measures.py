"""What a program asks of a tensor's sizes and dtype, as far as they are known.

x.size(0), x.dim(), x.numel()      numbers
x.shape == torch.Size([4, 3])      a tuple of them
torch.Tensor(4, 3)                 a tensor of these sizes, and no data
"""

from __future__ import annotations

from math import prod

from ...autograd import Extent, resolve_view
from ...domain.completion import ProgramRaised
from ...domain.state import State
from ...domain.values import FALSE, Const, TensorRef, Tuple, Value, something, unknown_number
from ...engine.machine import Machine
from .known_shape import items_in, rank, shape
from .registry import TENSOR_METHODS, Call, function, method
from .tensor_conversions import conversion


@method(TENSOR_METHODS, "size", "dim", "ndimension", "numel", "nelement")
def measured(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Value:
    extent = resolve_view(state, receiver.id).sizes
    if call.name == "size":
        return _size(extent, call.get(0, "dim"))
    return rank(extent) if call.name in ("dim", "ndimension") else elements(extent)


def _size(extent: Extent, dim: Value) -> Value:
    """``x.size()``, ``x.size(dim)``: there must be such a dimension."""
    place = dim.value if isinstance(dim, Const) and isinstance(dim.value, int) else None
    if place is not None and isinstance(extent, tuple) and not -len(extent) <= place < len(extent):
        raise ProgramRaised("IndexError", "Dimension out of range", by_torch=True)
    return shape(extent, dim)


@method(TENSOR_METHODS, "stride", "element_size", "get_device", "data_ptr", "storage_offset")
def number(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Value:
    return unknown_number()


@method(TENSOR_METHODS, "type")
def type_of(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Value:
    """``x.type(torch.LongTensor)`` converts; ``x.type()`` is a text."""
    return conversion(machine, state, receiver, call) if call.args else unknown_number()


@method(TENSOR_METHODS, "is_floating_point", "is_complex")
def is_floating_point(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Value:
    """Complex numbers are no floating point, and not distinguished from it but where a tensor has the default dtype."""
    if resolve_view(state, receiver.id).kind in ("int", "bool"):
        return FALSE
    is_real = receiver.id in machine.facts.contents.float32
    return Const(call.name == "is_floating_point") if is_real else something(call.name, False)


@function("torch.is_floating_point", "torch.is_complex")
def is_of_family(machine: Machine, state: State, call: Call) -> Value:
    asked, given = Call(call.name.rpartition(".")[2], [], {}, call.node), call.get(0, "input")
    if isinstance(given, TensorRef):
        return is_floating_point(machine, state, given, asked)
    return something(asked.name, False)


@function("torch.Size")
def size(machine: Machine, state: State, call: Call) -> Value:
    items = items_in(state, call.get(0, "iterable"))
    return something("Size", False) if items is None else Tuple(tuple(items))


def numel(sizes: Tuple) -> Value:
    """``x.shape.numel()``: of tuples only sizes have this method."""
    known = [item.value for item in sizes.items if isinstance(item, Const) and isinstance(item.value, int)]
    return elements(tuple(known) if len(known) == len(sizes.items) else None)


def elements(extent: Extent) -> Value:
    """``x.numel()``."""
    known = [size for size in extent if size is not None] if isinstance(extent, tuple) else None
    if known is None or not isinstance(extent, tuple) or len(known) < len(extent):
        return unknown_number()
    return Const(prod(known))
