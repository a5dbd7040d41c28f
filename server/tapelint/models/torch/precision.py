"""Of which tensors it is certain that they are of the default type, single precision.

x = torch.rand(3)                  # it is
y = (x * 2).sum()                  # and so is what is computed from it
with torch.autocast("cpu"):
    h = net(x)                     # unknown
    loss = F.mse_loss(y, x)        # saves x itself, where it would save a longer copy of h

Inside of ``torch.autocast`` most ops save copies of their inputs in another type (``ops.casting``).
"""

from __future__ import annotations

from collections.abc import Mapping

from ...domain.state import State
from ...domain.values import FALSE, NONE, Autocast, Const, External, TensorRef, Value
from ...engine.machine import Machine
from ...ops.casting import may_shorten
from ...ops.schema import Op
from .dtypes import NEW
from .registry import Call, function

CHANGING = frozenset("complex polar view_as_complex view_as_complex_copy stft hilbert float_power lu".split())
"""Ops whose results are of another dtype than their operands, or may be; those of ``fft`` are others, and
eigenvalues.
"""
OTHER_FAMILIES = ("fft_", "linalg_eig", "quantize", "to_sparse", "to_mkldnn")
OTHERS = frozenset("double float64 half float16 bfloat16".split())


def follow(
    machine: Machine, op: Op, named: Mapping[str, object], given: list[tuple[str, int]], keys: tuple[int, ...]
) -> None:
    """``op`` has made ``keys`` of the tensors ``given``."""
    single, flows = machine.facts.float32, op.flows
    if "dtype" in named and named["dtype"] != NONE or _changes_dtype(op.name, named):
        return
    if op.name in NEW:
        single.update(keys)
    elif (flows or op.view) and not (machine.facts.casting and may_shorten(op.name)):
        sources = [key for name, key in given if name in flows or not flows]
        if sources and single.issuperset(sources):
            single.update(keys if op.outputs < 0 else keys[:1])  # the others may be indices


def _changes_dtype(name: str, named: Mapping[str, object]) -> bool:
    """Whether the result is not of the dtype of the operands, such as complex numbers, or not laid out as they are."""
    if named.get("layout", NONE) != NONE:
        return True
    is_maker = name in CHANGING or name.replace(".", "_").startswith(OTHER_FAMILIES)
    return is_maker or any(isinstance(each, Const) and isinstance(each.value, complex) for each in named.values())


def changes(machine: Machine, tensor: int, name: str, wanted: list[Value]) -> bool:
    """Whether the conversion ``name`` makes a copy for certain: of the default type, and another one is wanted."""
    return machine.facts.is_single(tensor) and _asks(name, wanted)


def convert(machine: Machine, name: str, wanted: list[Value], tensor: int | None = None) -> None:
    """A tensor, or a module, is converted. What has another type since may still be the same thing in our model."""
    if name in ("type", "type_as", "_apply") or _asks(name, wanted):
        if tensor is None:
            machine.facts.default_dtype_changed.add(name)
        else:
            machine.facts.float32.discard(tensor)


def note_replacement(machine: Machine, tensor: int, value: Value) -> None:
    """``tensor.data = value``: since then it is of the type of that."""
    if not isinstance(value, TensorRef) or value.id not in machine.facts.float32:
        machine.facts.float32.discard(tensor)


def _asks(name: str, wanted: list[Value]) -> bool:
    """Whether another type than the default one is asked for."""
    names = {value.name.rpartition(".")[2] for value in wanted if isinstance(value, External)}
    return name in OTHERS or not names.isdisjoint(OTHERS)


@function("torch.autocast", "torch.amp.autocast", "torch.amp.autocast_mode.autocast")
def autocast(machine: Machine, state: State, call: Call) -> Value:
    return Autocast(call.flag(2, "enabled", True) is not False)


@function("torch.cuda.amp.autocast", "torch.cpu.amp.autocast", "torch.cuda.amp.autocast_mode.autocast")
def autocast_of_device(machine: Machine, state: State, call: Call) -> Value:
    return Autocast(call.get(0, "enabled") != FALSE)
