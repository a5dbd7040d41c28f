"""``x.a`` where ``x`` is a tensor, or unknown: read, set and deleted."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Literal

from ..autograd import CutReason, Provenance, Tensor, invent, resolve_view
from ..domain.state import State
from ..domain.values import (
    FALSE,
    NONE,
    BuiltinMethod,
    Const,
    External,
    Origin,
    TensorRef,
    Unknown,
    Value,
    unknown_number,
)
from ..engine.machine import Machine
from ..engine.open_objects import store_in_unknown
from ..engine.syntax.asked import GRADIENTS
from ..frozen import frozen
from ..models.torch import devices, dispatch, dtypes
from ..models.torch.autograd import grad_access, missing_grad
from ..models.torch.autograd.changed_objects import part_changed
from ..models.torch.autograd_function.grad_asked import note_asked
from ..models.torch.detaching import cut, set_requires_grad
from ..models.torch.dtypes import DTYPE_OF_KIND
from ..models.torch.known_shape import rank, shape
from ..models.torch.optim.optimizers import GROUPS, unknown_groups
from ..models.torch.registry import Call
from ..models.torch.tensors import detach_in_place
from ..ops.module_names import FIELDS
from ..source import written
from . import networks_by_use

TURNED = {"T": "numpy_T", "mT": "mT", "H": "matrix_H", "mH": "mH", "real": "real", "imag": "imag"}


def load_unknown(machine: Machine, state: State, owner: Unknown, name: str, node: ast.AST) -> Value:
    """An attribute of an unknown value: what the program has set there, or what every tensor has."""
    missing_grad.tell_moved(machine, state, owner, node)
    if name in GRADIENTS:
        grad_access.unknown_gradient(machine, state)
    what = TENSOR_ATTRIBUTES[name].of_unknown if name in TENSOR_ATTRIBUTES else "anything"
    if owner.requires_grad is False and what == "number":
        return unknown_number()
    if owner.tensor_id in state.tensors and name == "requires_grad":
        return load(machine, state, TensorRef(owner.tensor_id), name, node)
    if owner.requires_grad is False and name == "requires_grad":
        return FALSE
    if (given := state.given_attributes(owner.tensor_id).get(name)) is not None:
        return given
    if (known := devices.asked_of_device(owner, name)) is not None:
        return known
    if name == GROUPS and owner.requires_grad is None and isinstance(node, ast.Attribute):
        groups = unknown_groups(state, written(node.value), node)
        state.edit_given_attributes(owner.tensor_id)[name] = groups
        return groups
    return machine.fact(name) if what == "fact" else networks_by_use.part(machine, state, owner, name, node)


def load(machine: Machine, state: State, owner: TensorRef, name: str, node: ast.AST) -> Value:
    tensor = resolve_view(state, owner.id)
    known = TENSOR_ATTRIBUTES.get(name)
    if known is not None:
        return known.read(machine, state, tensor, node)
    if name in TURNED:
        turned = dispatch.run(machine, state, TURNED[name], [owner], {}, node)
        return turned or dispatch.run(machine, state, "t", [owner], {}, node) or owner
    if (given := state.given_attributes(owner.id).get(name)) is not None:
        return given
    if tensor.assumption and name in FIELDS:
        made = invent(machine.facts, state, [owner.id], node, tensor.assumption)
        machine.facts.record_provenance(made, Provenance(part_of=owner.id))
        return TensorRef(made)
    return BuiltinMethod(owner, name)


def _gradient(machine: Machine, state: State, tensor: Tensor, node: ast.AST) -> Value:
    """``.grad``: a non-leaf has none, which is reported where nothing is assumed of the tensor."""
    grad_access.read_grad(machine, state, tensor.id, node)
    grad = state.grads.get(tensor.id)
    if grad is not None:
        return TensorRef(grad)
    known = tensor.requires_grad is False or not tensor.assumption and not tensor.stands_for_module
    if missing_grad.may_be_there(state, tensor):
        return Unknown("grad", False)
    if known and tensor.grad_fn is not None:
        return missing_grad.missing(machine, state, tensor, node)
    if not known or tensor.kind == "int":
        return Unknown("grad", False)
    return missing_grad.never_there(machine, state, tensor, node)


def _requires_grad(machine: Machine, state: State, tensor: Tensor, node: ast.AST) -> Value:
    note_asked(machine, state, tensor, node)
    return Unknown("requires_grad", False) if tensor.requires_grad is None else Const(tensor.requires_grad)


def _base(machine: Machine, state: State, tensor: Tensor, node: ast.AST) -> Value:
    certain = tensor.base is not None and tensor.id not in machine.facts.memory.maybe_copied
    return TensorRef(tensor.base) if tensor.base is not None and certain else Unknown("_base")


def _grad_fn(machine: Machine, state: State, tensor: Tensor, node: ast.AST) -> Value:
    return NONE if tensor.grad_fn is None and tensor.requires_grad is not None else Unknown("grad_fn")


def _dtype(machine: Machine, state: State, tensor: Tensor, node: ast.AST) -> Value:
    """The dtype itself where it is known, or its family; of a tensor of which neither is known it is one for all."""
    kind = tensor.kind or ("float" if tensor.requires_grad else None)
    if kind == "bool" or kind == "float" and machine.facts.is_single(tensor.id):
        return External("torch.bool" if kind == "bool" else "torch.float32")
    is_told_apart = tensor.id in machine.facts.contents.float32 or tensor.kind is not None
    converted = " converted" if tensor.storage in machine.facts.memory.converted else ""
    of = f"dtype of {tensor.storage}{converted}" if is_told_apart else f"dtype{converted}"
    return machine.fact(of, DTYPE_OF_KIND.get(kind, Origin.ANY))


def _is_elsewhere(name: str, machine: Machine, state: State, tensor: Tensor, node: ast.AST) -> Value:
    """``.is_cuda``, ``.is_xpu``, ``.is_mps``, ``.is_meta``: what is on the CPU is none of these."""
    return FALSE if tensor.id in machine.facts.contents.on_cpu else machine.fact(name)


def _is_special(name: str, machine: Machine, state: State, tensor: Tensor, node: ast.AST) -> Value:
    """``.is_sparse``, ``.is_quantized``: what is known to be of single precision is neither."""
    return FALSE if tensor.id in machine.facts.contents.float32 else machine.fact(name)


@frozen
class TensorAttribute:
    """How an attribute of a tensor is read, and what it is of a value of which nothing is known: a ``fact`` without a
    graph or, where the value has no graph, a ``number``; otherwise that may be anything.
    """

    read: Callable[[Machine, State, Tensor, ast.AST], Value]
    of_unknown: Literal["fact", "number", "anything"] = "anything"


TENSOR_ATTRIBUTES: Mapping[str, TensorAttribute] = {
    "data": TensorAttribute(
        lambda machine, state, tensor, node: TensorRef(cut(machine, state, tensor, node, CutReason.DATA))
    ),
    **dict.fromkeys(GRADIENTS, TensorAttribute(_gradient)),
    "requires_grad": TensorAttribute(_requires_grad),
    "is_leaf": TensorAttribute(lambda machine, state, tensor, node: Const(tensor.grad_fn is None)),
    "_base": TensorAttribute(_base),
    "grad_fn": TensorAttribute(_grad_fn, "fact"),
    "shape": TensorAttribute(lambda machine, state, tensor, node: shape(tensor.sizes), "number"),
    "ndim": TensorAttribute(lambda machine, state, tensor, node: rank(tensor.sizes), "number"),
    **dict.fromkeys(
        ("nbytes", "itemsize"), TensorAttribute(lambda machine, state, tensor, node: unknown_number(), "number")
    ),
    "dtype": TensorAttribute(_dtype, "fact"),
    "device": TensorAttribute(lambda machine, state, tensor, node: devices.device_of(machine, tensor.id), "fact"),
    "layout": TensorAttribute(lambda machine, state, tensor, node: machine.fact("layout"), "fact"),
    "names": TensorAttribute(lambda machine, state, tensor, node: machine.fact("names"), "fact"),
    **{
        name: TensorAttribute(partial(_is_elsewhere, name), "fact")
        for name in ("is_cuda", "is_xpu", "is_mps", "is_meta")
    },
    **{name: TensorAttribute(partial(_is_special, name), "fact") for name in ("is_sparse", "is_quantized")},
}
"""The attributes of tensors whose values follow from what is known of the tensor, and those that have no graph
(https://docs.pytorch.org/docs/stable/tensors.html).
"""


def store_unknown(machine: Machine, state: State, owner: Unknown, name: str, value: Value) -> None:
    """Of an unknown object what is plain is kept: options that the program sets itself (`args.cuda = ...`)."""
    if isinstance(value, (Const, Unknown)):
        state.edit_given_attributes(owner.tensor_id)[name] = value
    elif name in state.given_attributes(owner.tensor_id):
        del state.edit_given_attributes(owner.tensor_id)[name]
    store_in_unknown(machine, state, owner, value)


def store(machine: Machine, state: State, owner: TensorRef, name: str, value: Value, node: ast.AST) -> None:
    tensor = resolve_view(state, owner.id)
    if name in GRADIENTS:
        state.changes += 1
        if isinstance(value, TensorRef):
            state.grads[owner.id] = value.id
        else:
            state.grads.pop(owner.id, None)
        grad_access.assign_grad(machine, state, owner.id, value, node)
    elif name == "requires_grad":
        set_requires_grad(machine, state, tensor, value, True, node)
    elif name == "_grad_fn" and value == NONE:
        detach_in_place(machine, state, owner, Call("detach_", [], {}, node))
    elif name != "data":
        state.edit_given_attributes(owner.id)[name] = value
        part_changed(machine, state, owner.id)
    else:
        dtypes.note_replacement(machine, owner.id, value)
        devices.forget_device(machine, owner.id)
        sizes = resolve_view(state, value.id).sizes if isinstance(value, TensorRef) else None
        state.tensors[owner.id] = replace(state.tensors[owner.id], sizes=sizes)
        if isinstance(value, TensorRef):
            grad_access.follow_op(machine, state, [value.id], (), owner.id, node)


def remove(machine: Machine, state: State, owner: TensorRef, name: str, node: ast.AST) -> None:
    if name in GRADIENTS:
        state.grads.pop(owner.id, None)
        grad_access.cleared_by_hand(machine, state, owner.id, node)
    elif name in state.given_attributes(owner.id):
        del state.edit_given_attributes(owner.id)[name]
