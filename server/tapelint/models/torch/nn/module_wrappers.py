"""Wrappers that call the network they are given, and are that network: ``DataParallel``, ``torch.compile``."""

from __future__ import annotations

from ....domain.state import State
from ....domain.values import TRUE, External, HeapRef, Instance, Tuple, Value
from ....engine.machine import Machine
from ..registry import Call, function

WRAPPERS = ("module", "_orig_mod")
"""What a wrapper calls the network in it."""


def is_wrapped(state: State, value: Value) -> bool:
    """Whether an object stands for a network and for the wrapper around it: it is not known which of them it is."""
    thing = state.heap[value.id] if isinstance(value, HeapRef) else None
    return isinstance(thing, Instance) and any(thing.attributes.get(name) == value for name in WRAPPERS)


@function("torch.nn.parallel.data_parallel")
def data_parallel(machine: Machine, state: State, call: Call) -> Value:
    inputs = call.get(1, "inputs")
    args: list[Value] = list(inputs.items) if isinstance(inputs, Tuple) else [inputs]
    return machine.call(state, call.get(0, "module"), args, {}, call.node, call.key)


@function(
    "torch.nn.DataParallel",
    "torch.nn.parallel.DistributedDataParallel",
    "torch.nn.parallel.DataParallel",
    "torch.compile",
    "torch.compiler.disable",
    "torch.jit.script",
    "torch.jit.trace",
    "torch.nn.SyncBatchNorm.convert_sync_batchnorm",
    "torch.distributed.fsdp.FullyShardedDataParallel",
    "torch.distributed.fsdp.fully_shard",
    "torch.distributed.tensor.parallel.parallelize_module",
)
def wrapper(machine: Machine, state: State, call: Call) -> Value:
    """Wrappers that call the wrapped module, which is their ``module`` or ``_orig_mod``. A module that has something
    else under that name stays what it is.
    """
    value = call.get(0, "module", call.get(0, "model"))
    is_parallel = call.name.endswith("Parallel")
    name = "_orig_mod" if call.name == "torch.compile" else "module" if is_parallel else None
    thing = state.heap[value.id] if isinstance(value, HeapRef) else None
    if name is None or not isinstance(value, HeapRef) or not isinstance(thing, Instance):
        return value
    if is_parallel and thing.attributes.get(name, value) != value:
        return HeapRef(state.new(Instance(External(call.name), {name: value, "training": TRUE})))
    state.edit(value.id, Instance).attributes[name] = value
    return value
