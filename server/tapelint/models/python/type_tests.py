"""``isinstance``: what kind of thing a value is, as far as it is known."""

from __future__ import annotations

from ...autograd import Tensor
from ...domain.mro import mro_of
from ...domain.state import State
from ...domain.values import (
    FALSE,
    TRUE,
    Class,
    Const,
    External,
    HeapRef,
    Instance,
    Mapping,
    Sequence,
    TensorRef,
    Tuple,
    Unknown,
    Value,
)
from ...engine.machine import Machine
from ...ops.module_names import is_layer
from ..torch.nn.module_registry import is_module_like
from ..torch.registry import Call, function


@function("builtins.isinstance")
def is_instance(machine: Machine, state: State, call: Call) -> Value:
    value, kinds = call.get(0, "obj"), call.get(1, "class")
    verdicts = [_is(state, value, kind) for kind in (kinds.items if isinstance(kinds, Tuple) else (kinds,))]
    return TRUE if True in verdicts else Unknown("isinstance", False) if None in verdicts else FALSE


PLAIN = {"int": int, "float": float, "str": str, "bool": bool}


def _is(state: State, value: Value, kind: Value) -> bool | None:
    """Whether a value is an instance of a class; None where that is not known."""
    if isinstance(value, Unknown):
        return None
    match kind:
        case HeapRef():
            return _is_of_program(state, value, kind)
        case External():
            return _is_of_library(state, value, kind)
    return None


def _is_of_program(state: State, value: Value, kind: HeapRef) -> bool | None:
    """Whether a value is an instance of a class that the program defines."""
    thing = state.heap[value.id] if isinstance(value, HeapRef) else None
    if not isinstance(thing, Instance):
        return False
    order = mro_of(state, thing.kind)
    if kind in order:
        return True
    return None if thing.is_partial or any(isinstance(o, Unknown) for o in order) else False


def _is_of_library(state: State, value: Value, kind: External) -> bool | None:
    """Whether a value is an instance of a class of Python's or a library's."""
    name = kind.name.rpartition(".")[2]
    match value:
        case TensorRef():
            return _is_tensor_class(state.tensors[value.id], name)
        case Const():
            return isinstance(value.value, PLAIN[name]) if name in PLAIN else False
        case Tuple():
            return name == "tuple"
        case HeapRef():
            is_module = kind.name == "torch.nn.Module" and is_module_like(state, value)
            return True if is_module else _is_object(state, state.heap[value.id], kind.name, name)
        case External() if is_layer(value.name):
            return name == "type"
    return None


def _is_tensor_class(tensor: Tensor, name: str) -> bool | None:
    """Whether a tensor is an instance of the class ``name``: one by assumption may be of another."""
    if name in ("Tensor", "Variable"):
        return None if tensor.assumption else True
    if name == "Parameter":
        return tensor.parameter and not tensor.stands_for_module
    return None if tensor.assumption else False


def _is_object(state: State, thing: object, dotted: str, name: str) -> bool | None:
    """Whether an object on the heap is an instance of the library's class ``dotted``, whose own name is ``name``."""
    match thing:
        case Sequence():
            return name == thing.kind
        case Class():
            if name == "type":
                return True
            return False if name in (*PLAIN, "dict", "list", "tuple", "Module", "Tensor") else None
        case Mapping():
            return name in ("dict", thing.kind)
        case Instance():
            bases = [o.name for o in mro_of(state, thing.kind) if isinstance(o, External)]
            return True if dotted in bases else None if thing.is_partial or name == "Module" else False
    return None
