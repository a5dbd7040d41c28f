"""Attributes of which it is not known whether they are methods or data.

unet(x).sample      `unet` is of a library: `sample` may be anything
loss.backward       a method that tensors have: no data
"""

from __future__ import annotations

from ... import ops
from ...domain.state import State
from ...domain.values import BuiltinMethod, HeapRef, Instance, TensorRef, Unknown, Value
from .registry import MODULE_METHODS, TENSOR_METHODS


def is_opaque(state: State, value: Value) -> bool:
    """Whether a value is an attribute that may be anything: of something unknown, or one that an object of the program
    has from an unknown class. What is known to be a method is not.
    """
    if not isinstance(value, BuiltinMethod):
        return False
    owner = value.receiver
    if isinstance(owner, TensorRef):
        return value.name not in TENSOR_METHODS and not ops.candidates(value.name)
    if isinstance(owner, HeapRef):
        return isinstance(state.heap[owner.id], Instance) and value.name not in MODULE_METHODS
    return isinstance(owner, (Unknown, BuiltinMethod))
