"""einops: what a pattern does is a reshape, a permutation, a reduction, an expansion and another reshape. Only whether
it reduces or merges axes is read of it.

rearrange(x, "b (h d) -> b h d", h=4)      a view of x: it only splits and moves axes
rearrange(x, "b h d -> b (h d)")           perhaps a view of x, and perhaps x itself: it saves nothing
reduce(x, "b c h w -> b c", "max")         amax, which saves x and its result
repeat(x, "b d -> b k d", k=3)             as `rearrange`
"""

from __future__ import annotations

import re

from ...domain.opaque_values import as_data
from ...domain.state import State
from ...domain.traversal import listed
from ...domain.values import (
    TRUE,
    Const,
    External,
    HeapRef,
    Instance,
    Origin,
    Partial,
    TensorRef,
    Unknown,
    Value,
    unknown_number,
)
from ...engine.machine import Machine
from .dispatch import run, tensor_of
from .registry import Call, function

REDUCTIONS = {"min": "amin", "max": "amax", "sum": "sum", "mean": "mean", "prod": "prod", "any": "any", "all": "all"}
"""The ops that reduce, by the names that einops gives them."""
AXES = re.compile(r"\w+|\.\.\.")


def _op(machine: Machine, state: State, call: Call, name: str, *args: Value, is_view: bool | None = None) -> Value:
    made = run(machine, state, name, args, {}, call.node, is_view)
    return Unknown(name) if made is None else made


def _tensor(machine: Machine, state: State, call: Call) -> TensorRef | None:
    """What is given; the tensors of a list are stacked. None where it may be an array of another library."""
    value = call.get(0, "tensor")
    items = listed(state, value)
    if items and all(isinstance(item, TensorRef) for item in items):
        value = _op(machine, state, call, "stack", value)
    value = as_data(state, value)
    if isinstance(value, Unknown) and value.origin is Origin.BATCH:
        found = tensor_of(machine, state, value)
        return TensorRef(found) if found is not None else None
    return value if isinstance(value, TensorRef) else None


@function("einops.rearrange", "einops.repeat", "einops.einops.rearrange", "einops.einops.repeat")
def rearrange(machine: Machine, state: State, call: Call) -> Value:
    value = _tensor(machine, state, call)
    if value is None:
        return _unknown(machine, state, call)
    is_view = call.name.endswith("rearrange") and _merges_nothing(call.get(1, "pattern"))
    return _op(machine, state, call, "reshape", value, unknown_number(), is_view=is_view)


def _merges_nothing(pattern: Value) -> bool:
    """Whether a pattern has each axis for itself on its right side."""
    return isinstance(pattern, Const) and "(" not in str(pattern.value).partition("->")[2]


@function("einops.reduce", "einops.einops.reduce")
def reduce(machine: Machine, state: State, call: Call) -> Value:
    """What an unknown pattern reduces is not known: then it is a call of unknown code."""
    reduction, pattern = call.get(2, "reduction"), call.get(1, "pattern")
    name = REDUCTIONS.get(str(reduction.value)) if isinstance(reduction, Const) else None
    value = _tensor(machine, state, call) if name is not None or isinstance(reduction, External) else None
    if value is None or not _reduces(pattern):
        return _unknown(machine, state, call)
    if name is None:
        return machine.call(state, reduction, [value, unknown_number()], {}, call.node)
    return _op(machine, state, call, name, value, unknown_number())


def _reduces(pattern: Value) -> bool:
    """Whether a pattern has an axis on its left side alone."""
    left, _, right = str(pattern.value).partition("->") if isinstance(pattern, Const) else ("", "", "")
    return bool({*AXES.findall(left)} - {*AXES.findall(right)} - {"1"})


def _unknown(machine: Machine, state: State, call: Call) -> Value:
    return machine.call_unknown(state, call.args, call.kwargs, call.node, External(call.name))


@function("einops.layers.torch.Rearrange", "einops.layers.torch.Reduce")
def layer(machine: Machine, state: State, call: Call) -> Value:
    """A module without parameters, whose forward is the function with all but the tensor given."""
    name = call.name.rpartition(".")[2].lower()
    given = {**dict(zip(("pattern", "reduction"), call.args)), **call.kwargs}
    forward = Partial(External(f"einops.{name}"), (), tuple(given.items()))
    made = HeapRef(state.new(Instance(External("torch.nn.Module"), {"forward": forward, "training": TRUE})))
    machine.created_by[made.id] = call.node
    return made
