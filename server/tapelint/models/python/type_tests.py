"""``isinstance``: what kind of thing a value is, as far as it is known."""

from __future__ import annotations

from ...autograd import State
from ...domain.mro import linear_order
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
def is_instance(m: Machine, state: State, call: Call) -> Value:
    value, kinds = call.get(0, "obj"), call.get(1, "class")
    verdicts = [_is(state, value, kind) for kind in (kinds.items if isinstance(kinds, Tuple) else (kinds,))]
    return TRUE if True in verdicts else Unknown("isinstance", False) if None in verdicts else FALSE


PLAIN = {"int": int, "float": float, "str": str, "bool": bool}


def _is(state: State, value: Value, kind: Value) -> bool | None:
    if isinstance(value, Unknown):
        return None
    if isinstance(kind, HeapRef):
        if isinstance(value, HeapRef) and isinstance(thing := state.heap[value.id], Instance):
            order = linear_order(state, thing.kind)
            if kind in order:
                return True
            return None if thing.open or any(isinstance(o, Unknown) for o in order) else False
        return False
    if not isinstance(kind, External):
        return None
    name = kind.name.rpartition(".")[2]
    if isinstance(value, TensorRef):
        tensor = state.tensors[value.id]
        if name in ("Tensor", "Variable"):
            return None if tensor.assumed else True
        return (
            (tensor.parameter and not tensor.stands_for_module)
            if name == "Parameter"
            else None
            if tensor.assumed
            else False
        )
    if isinstance(value, Const):
        return isinstance(value.value, PLAIN[name]) if name in PLAIN else False
    if isinstance(value, Tuple):
        return name == "tuple"
    if isinstance(value, HeapRef):
        thing = state.heap[value.id]
        if kind.name == "torch.nn.Module" and is_module_like(state, value):
            return True
        if isinstance(thing, Sequence):
            return name == thing.kind
        if isinstance(thing, Class):
            if name == "type":
                return True
            return False if name in (*PLAIN, "dict", "list", "tuple", "Module", "Tensor") else None
        if isinstance(thing, Mapping):
            return name in ("dict", thing.kind)
        if isinstance(thing, Instance):
            names = [o.name for o in linear_order(state, thing.kind) if isinstance(o, External)]
            return True if kind.name in names else None if thing.open or name == "Module" else False
    if isinstance(value, External) and is_layer(value.name):
        return name == "type"
    return None
