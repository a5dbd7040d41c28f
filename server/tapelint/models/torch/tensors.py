"""Methods and functions of tensors that are no rows of the op table: detach, flags, questions, settings."""

from __future__ import annotations

import ast
from dataclasses import replace

from ...autograd import (
    Cut,
    CutReason,
    Provenance,
    TorchRaises,
    bump,
    check_write,
    contents,
    give_history,
    resolve_view,
)
from ...autograd.events.graph_walks import ViewDetached
from ...domain.completion import ProgramRaised
from ...domain.state import State
from ...domain.values import (
    FALSE,
    NONE,
    TRUE,
    Const,
    Origin,
    TensorRef,
    Unknown,
    Value,
    something,
)
from ...engine.lost_history import cut_of
from ...engine.machine import Machine
from ...engine.paths import constant_contents
from . import kept_aliases
from .autograd.changed_objects import part_changed
from .detaching import cut, set_requires_grad
from .registry import TENSOR_METHODS, Call, answers, function, method


@method(TENSOR_METHODS, "detach")
def detach(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Value:
    return TensorRef(cut(machine, state, resolve_view(state, receiver.id), call.node, CutReason.DETACH))


@method(TENSOR_METHODS, "detach_")
def detach_in_place(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Value:
    tensor = resolve_view(state, receiver.id)
    if state.inference:
        return receiver  # where nothing is recorded there is nothing to cut
    if tensor.base is not None and tensor.id not in machine.facts.memory.maybe_copied:
        machine.facts.events.publish(
            ViewDetached(
                point=state.point(call.node),
                tensor=tensor.id,
                made=tensor.created_at,
                because=tensor.because or state.tensors[tensor.base].because,
            )
        )
        raise ProgramRaised("RuntimeError", "Can't detach views in-place. Use detach() instead.", by_torch=True)
    if tensor.requires_grad:
        lost = Cut(state.point(call.node), CutReason.OPERATION, "detach_", source=tensor.grad_fn)
        machine.facts.record_provenance(receiver.id, Provenance(cut=lost))
    state.changes += 1
    give_history(state, replace(tensor, assumption=None), None, False)  # whatever it was, it has no graph now
    part_changed(machine, state, machine.facts.provenance_of(receiver.id).part_of)
    return receiver


@method(TENSOR_METHODS, "_is_view")
def is_view(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Value:
    certain = state.tensors[receiver.id].base is not None and receiver.id not in machine.facts.memory.maybe_copied
    return TRUE if certain else something(call.name, False)


@method(TENSOR_METHODS, "requires_grad_")
def requires_grad(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Value:
    if machine.facts.running.levels:
        raise ProgramRaised("RuntimeError", "You are attempting to call Tensor.requires_grad_() inside", by_torch=True)
    set_requires_grad(
        machine, state, resolve_view(state, receiver.id), call.get(0, "requires_grad", TRUE), False, call.node
    )
    return receiver


@method(TENSOR_METHODS, "set_")
def set_(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Value:
    """Another memory under the same tensor: a write to all who know it, though the old memory is as it was."""
    tensor, source = resolve_view(state, receiver.id), call.get(0, "source")
    try:
        check_write(machine.facts, state, tensor, "set_", call.node, tensor.requires_grad)
    except TorchRaises as refused:
        raise ProgramRaised("RuntimeError", str(refused), by_torch=True) from None
    given = resolve_view(state, source.id) if isinstance(source, TensorRef) else None
    plain = not tensor.requires_grad and given is not None and given.requires_grad is False
    # What had a graph gets a node that has no formula.
    state.tensors[tensor.id] = replace(
        tensor,
        storage=tensor.version_counter,
        sizes=None if given is None else given.sizes,
        requires_grad=False if plain else None,
    )
    bump(state, tensor.version_counter, "set_", call.node, tensor=tensor.id)
    if given is not None:
        state.tensors[tensor.id] = replace(state.tensors[tensor.id], storage=given.storage)
    return receiver


@method(TENSOR_METHODS, "item", "tolist", "__float__", "__int__", "__bool__", "__len__")
def plain(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Value:
    if call.name == "item" and (known := constant_contents.number_in(machine, state, receiver.id)) is not None:
        return known
    certain = call.name != "tolist" and state.tensors[receiver.id].assumption is None
    value = Unknown("item", False, origin=Origin.NUMBER if certain else Origin.ANY)
    tensor, lost = resolve_view(state, receiver.id), cut_of(machine, receiver)
    if tensor.requires_grad or tensor.requires_grad is None and lost is None:
        reason = CutReason.ITEM if call.name == "item" else CutReason.READ
        lost = Cut(state.point(call.node), reason, call.name, source=tensor.grad_fn)
    read = contents(state, receiver.id)
    machine.facts.record_provenance(value.tensor_id, Provenance(cut=lost, number_in=read))
    return value


@method(TENSOR_METHODS, "share_memory_")
def quiet(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Value:
    return receiver


@method(
    TENSOR_METHODS,
    "is_contiguous",
    "is_cuda",
    "is_pinned",
    "equal",
    "allclose",
    "is_inference",
    "is_shared",
)
def question(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Value:
    function, given = (call.node.func, call.node.args) if isinstance(call.node, ast.Call) else (None, [])
    if call.name in ("equal", "allclose") and isinstance(function, ast.Attribute) and given:
        kept_aliases.compared(machine, state, receiver, call.args[0], (function.value, given[0]), call.node)
    return something(call.name, False)


@function("torch.equal", "torch.allclose")
def equal(machine: Machine, state: State, call: Call) -> Value:
    """True where one tensor is an unchanged copy of the other."""
    left, right = call.get(0, "input"), call.get(1, "other")
    if isinstance(call.node, ast.Call) and len(call.node.args) > 1:
        kept_aliases.compared(machine, state, left, right, (call.node.args[0], call.node.args[1]), call.node)
    if isinstance(left, TensorRef) and isinstance(right, TensorRef):
        pair = [(t, state.version(resolve_view(state, t).version_counter)) for t in (left.id, right.id)]
        if machine.facts.same_values(*pair):
            return TRUE
    return Unknown("equal", False)


@function("torch.is_tensor")
def is_tensor(machine: Machine, state: State, call: Call) -> Value:
    value = call.get(0, "obj", NONE)
    if isinstance(value, Unknown) and value.origin is not Origin.NUMBER:
        return Unknown("is_tensor")
    return TRUE if isinstance(value, TensorRef) else FALSE


DEFAULTS = frozenset({"torch.set_default_dtype", "torch.set_default_tensor_type"})
DEVICES = frozenset({"torch.set_default_device", "torch.set_default_tensor_type"})


@function(
    "torch.manual_seed",
    "torch.cuda.manual_seed",
    "torch.cuda.manual_seed_all",
    "torch.set_default_dtype",
    "torch.set_default_tensor_type",
    "torch.set_default_device",
    "torch.set_printoptions",
    "torch.use_deterministic_algorithms",
    "torch.cuda.empty_cache",
    "torch.cuda.synchronize",
    "torch.set_num_threads",
    "torch.autograd.set_detect_anomaly",
)
def setting(machine: Machine, state: State, call: Call) -> Value:
    if call.name in DEVICES:
        machine.facts.contents.default_device_changed.add(call.name)
    if call.name in DEFAULTS:
        machine.facts.contents.default_dtype_changed.add(call.name)
    return Unknown("setting")


@function("torch.device")
def device(machine: Machine, state: State, call: Call) -> Value:
    """The same wherever the same is asked for."""
    asked = [*call.args, *call.kwargs.values()]
    named = tuple(each if isinstance(each, Const) else getattr(each, "tensor_id", None) for each in asked)
    return Unknown(call.name, False) if None in named else machine.fact(call.name, about=named)


@function("torch.Generator", "torch.cuda.is_available", "torch.cuda.device_count")
def environment(machine: Machine, state: State, call: Call) -> Value:
    return machine.fact(call.name)


answers(lambda: NONE, "torch.onnx.export")
answers(lambda: Unknown(origin=Origin.LOADER), "torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader")
answers(lambda: Unknown("load"), "torch.load")
