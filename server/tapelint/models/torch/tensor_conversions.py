"""Conversions of tensors: ``x.to(...)``, ``x.cuda()``, ``x.float()`` and their like (``ops/conversions.py``)."""

from __future__ import annotations

from dataclasses import replace

from ...autograd import (
    Cut,
    CutReason,
    Leaf,
    Node,
    Provenance,
    Tensor,
    leaf,
    resolve_view,
)
from ...domain.state import State
from ...domain.values import (
    Const,
    External,
    TensorRef,
    Value,
)
from ...engine.machine import Machine
from ...engine.paths import constant_contents
from ...ops.traits import traits_of
from . import devices, dtypes
from .detaching import another_name
from .dispatch import run
from .dtypes import Kind, of_dtype
from .registry import TENSOR_METHODS, Call, method


@method(
    TENSOR_METHODS,
    "to",
    "cuda",
    "cpu",
    "float",
    "double",
    "half",
    "bfloat16",
    "contiguous",
    "type_as",
    "pin_memory",
    "int",
    "long",
    "bool",
    "short",
    "byte",
    "xpu",
)
def conversion(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Value:
    """A tensor of another dtype, or on another device."""
    asked = [*call.args, *call.kwargs.values()]
    if devices.is_there(machine, receiver.id, call.name, asked):
        return receiver
    result = _converted(machine, state, receiver, call)
    devices.note_conversion(machine, receiver.id, result, call.name, asked)
    if constant_contents.META in asked and isinstance(result, TensorRef):
        constant_contents.handed_out(machine, state, [result.id])
    else:
        constant_contents.converted(machine, state, receiver.id, result, kind_wanted(state, call))
    return result


def _converted(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Value:
    """Usually the very same tensor (already there, already of that type); else a copy that depends on it and saves
    nothing.

    Treating it as the same tensor is right for the graph in both cases: a copy's node saves nothing and is never
    refused. For a leaf it is not (the copy is no leaf), so a leaf that may have been copied is known less well. Of data
    it gives another tensor in the same memory, which may be the same: either can be made to require grad by itself.
    """
    tensor = resolve_view(state, receiver.id)
    if call.name != "pin_memory":
        machine.facts.memory.converted.add(tensor.storage)
    wanted, asked = kind_wanted(state, call), [*call.args, *call.kwargs.values()]
    if tensor.base is not None or state.grad_mode is False and tensor.requires_grad:
        machine.facts.memory.maybe_copied[tensor.id] = state.point(call.node)
    if wanted in ("int", "bool") or wanted and tensor.kind in ("int", "bool"):
        return receiver if tensor.kind == wanted else _without_gradient(machine, state, receiver.id, wanted, call)
    if (copied := _copied(machine, state, receiver, tensor, asked, call)) is not None:
        return copied
    result = receiver.id if tensor.requires_grad is not False else _of_data(machine, state, tensor, asked, call)
    dtypes.convert(machine, call.name, asked, result)
    return TensorRef(result)


def _copied(
    machine: Machine, state: State, receiver: TensorRef, tensor: Tensor, asked: list[Value], call: Call
) -> Value | None:
    """The copy that is made of a view that is not contiguous, or perhaps of a leaf; None of what is kept."""
    if _may_be_copied(machine, tensor, asked, call):
        return _moved(machine, state, receiver, asked, call)
    is_recorded = state.grad_mode is not False
    if call.name == "contiguous" and not call.kwargs and is_recorded and _has_gaps(machine, state, tensor):
        return run(machine, state, "clone", [receiver], {}, call.node)
    return None


def _of_data(machine: Machine, state: State, tensor: Tensor, asked: list[Value], call: Call) -> int:
    """What requires no grad: itself, if it is there already, or what may be another tensor."""
    if tensor.parameter or _is_there(machine, tensor.id, call):
        return tensor.id
    is_copied = dtypes.changes(machine, tensor.id, call.name, asked)
    return another_name(machine, state, tensor, is_copied, call.node)


def _is_there(machine: Machine, tensor: int, call: Call) -> bool:
    """Whether a conversion gives the tensor itself for certain: it is what the conversion asks for."""
    if call.args or call.kwargs:
        return False
    facts = machine.facts
    known = {
        "float": facts.is_single(tensor),
        "cpu": tensor in facts.contents.on_cpu,
        "contiguous": tensor in facts.memory.contiguous,
    }
    return known.get(call.name, False)


def _without_gradient(machine: Machine, state: State, source: int, wanted: Kind, call: Call) -> Value:
    """A copy as whole numbers or truth values, or of these: no graph leads through it."""
    tensor = resolve_view(state, source)
    made = leaf(state, call.node, False, kind=wanted, sizes=tensor.sizes)
    lost = machine.facts.provenance_of(source).cut
    if tensor.requires_grad:
        lost = Cut(state.point(call.node), CutReason.OPERATION, call.name)
    if lost is not None:
        machine.facts.record_provenance(made, Provenance(cut=lost))
    return TensorRef(made)


def _may_be_copied(machine: Machine, tensor: Tensor, asked: list[Value], call: Call) -> bool:
    """Whether a conversion may make a copy of a leaf that requires grad; a parameter, and what is computed, count where
    that is certain.
    """
    if not tensor.requires_grad:
        return False
    if tensor.grad_fn is not None or tensor.parameter or not _moves(call):
        return dtypes.changes(machine, tensor.id, call.name, asked)
    return True


def _has_gaps(machine: Machine, state: State, view: Tensor) -> bool:
    """Whether the entries of a view do not lie in memory one after the other, so that ``contiguous()`` copies it: a
    view of what another one has put in another order has that order, too, as far as is known.
    """
    if view.base is None or view.grad_fn is None:
        return False
    window = machine.facts.memory.windows.get(view.id)
    if window is not None and window.is_gapless is False:
        return True
    whole = resolve_view(state, view.base).grad_fn
    made: Node | Leaf | None = view.grad_fn
    while isinstance(made, Node) and made is not whole:
        if "reorders" in traits_of(made.op):
            return True
        made = next(iter(made.inputs), None)
    return False


def _moves(call: Call) -> bool:
    """Whether a conversion makes a copy of a tensor unless it is already there, or already of that type."""
    return call.name in ("cuda", "double", "half") or call.name == "to" and bool(call.args or call.kwargs)


def _moved(machine: Machine, state: State, source: TensorRef, asked: list[Value], call: Call) -> TensorRef | None:
    """A leaf that may have been copied: a tensor computed of it, by ``MOVED`` if the leaf may also be itself."""
    clone = run(machine, state, "clone", [source], {}, call.node)
    if not isinstance(clone, TensorRef):
        return None
    dtypes.convert(machine, call.name, asked, clone.id)
    copy = state.tensors[clone.id]
    if copy.grad_fn is not None and not dtypes.changes(machine, source.id, call.name, asked):
        state.tensors[clone.id] = replace(copy, grad_fn=replace(copy.grad_fn, op=MOVED))
    return clone


MOVED = "to"
"""The op of a copy that is made only if the tensor was elsewhere: on the CPU it may be the tensor itself."""


def kind_wanted(state: State, call: Call) -> Kind:
    """The dtype a conversion asks for: ``other`` where it may ask for any."""
    if call.name not in ("to", "type", "type_as"):
        return of_dtype(External({"byte": "uint8"}.get(call.name, call.name)))
    asked = [*call.args[:2], *(value for name, value in call.kwargs.items() if name in ("dtype", "other"))]
    found = [state.tensors[value.id].kind if isinstance(value, TensorRef) else of_dtype(value) for value in asked]
    known = next((kind for kind in found if kind is not None), None)
    return known or (None if all(isinstance(value, (External, Const)) for value in asked) else "other")
