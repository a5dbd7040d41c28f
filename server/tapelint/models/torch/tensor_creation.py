"""What makes a tensor of data, or of another tensor: ``torch.tensor``, ``nn.Parameter``, ``torch.FloatTensor``.

Constructors from before 0.4, which take a tensor, data or sizes.

torch.Tensor(w)      w once more: a view, with its graph
w.new(2, 3)          new memory, without a graph, like w
"""

from __future__ import annotations

import ast
from dataclasses import replace

from ...autograd import Cut, CutReason, Extent, Provenance, give_history, leaf, resolve_view
from ...domain.state import State
from ...domain.traversal import listed
from ...domain.values import NONE, Const, External, HeapRef, TensorRef, Tuple, Unknown, Value
from ...engine.lost_history import cut_of, in_list
from ...engine.machine import Machine
from ...engine.paths import constant_contents
from ...ops.conversions import ELEMENTS
from ...ops.text import parse_op
from ..python import array_memory
from . import devices
from .detaching import cut
from .dispatch import apply, may_carry, refuse_integers, tensor_of
from .dtypes import Kind, of_dtype, of_values
from .known_shape import asked_for, displayed
from .nn.new_parameters import parameter_of
from .registry import TENSOR_METHODS, Call, function, method
from .tensor_conversions import conversion

LEGACY_ON_CPU = frozenset(("torch.Tensor", *(f"torch.{kind}Tensor" for kind in ELEMENTS)))
"""The classes of tensors, by the type of their elements, whose constructors use the CPU unless asked otherwise."""
LEGACY = LEGACY_ON_CPU | {f"torch.cuda.{kind}Tensor" for kind in ELEMENTS}
"""All of them."""

ALIAS = parse_op("alias(self:tensor); flows self; view view; sizes =self; AliasBackward0; probe")
"""What such a constructor makes of a tensor, which must have the type that is asked for (run in PyTorch 2.13)."""


def of_tensor(machine: Machine, state: State, source: TensorRef, call: Call) -> Value:
    """A tensor that is given to a constructor, as it gives it back."""
    return apply(machine, state, ALIAS, [source], {}, call.node)


def sizes_made(state: State, call: Call, source: Value) -> Extent:
    """The sizes of what a constructor makes of sizes or of data; a tuple is data, a ``torch.Size`` is not."""
    if isinstance(source, Tuple):
        return None
    sizes = asked_for(call.args)
    return displayed(state, source) if sizes is None and len(call.args) < 2 else sizes


@method(TENSOR_METHODS, "new")
def new(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Value:
    """``w.new(...)``: with the type and on the device of ``w``; nothing else of it is kept."""
    only = call.args[0] if len(call.args) == 1 else None
    if isinstance(only, TensorRef):
        return of_tensor(machine, state, only, call)
    kind = resolve_view(state, receiver.id).kind
    wants = None if only is not None and may_carry(only) else False
    sizes = None if only is None else sizes_made(state, call, only)
    return TensorRef(leaf(state, call.node, wants, kind=kind, sizes=sizes))


@function(*LEGACY)
def legacy(machine: Machine, state: State, call: Call) -> Value:
    """A tensor once more, or new data."""
    source = call.get(0, "data", NONE)
    if isinstance(source, TensorRef):
        return of_tensor(machine, state, source, call)
    return make(machine, state, call)


@function("torch.tensor", "torch.as_tensor", "torch.from_numpy", "torch.asarray")
def make(machine: Machine, state: State, call: Call) -> Value:
    """New data."""
    source = call.get(0, "data", NONE)
    if call.name in ("torch.as_tensor", "torch.asarray") and isinstance(source, TensorRef):
        return _as_tensor(machine, state, source, call)
    flag = call.kwargs.get("requires_grad")
    wants = False if flag is None else bool(flag.value) if isinstance(flag, Const) else None
    dtype = call.kwargs.get("dtype", NONE)
    kind = _kind_made(state, call.name, source, dtype)
    made = leaf(state, call.node, wants, kind=kind, sizes=_sizes_made(state, call, source))
    if call.name == "torch.from_numpy":
        array_memory.shares(machine, state, source, made)
    lost = _lost_history(machine, state, source, call.node)
    if lost is not None:
        again = replace(lost, wrapped=state.point(call.node)) if lost.reason in AGAIN else lost
        machine.facts.record_provenance(made, Provenance(cut=again))
        if lost.reason is CutReason.ITEM and isinstance(source, (TensorRef, Unknown)):
            state.tensors[made] = replace(state.tensors[made], sizes=())
    plain = call.name in ("torch.tensor", "torch.Tensor") and dtype == NONE and kind == "float"
    constant_contents.made(machine, state, made, source, call.name)
    if call.name in ON_CPU:
        devices.note_new(machine, made, call.kwargs.get("device"))
    if plain:
        machine.facts.contents.float32.add(made)
    if wants:
        machine.facts.record_provenance(made, Provenance(rewrapped=state.point(call.node)))
        refuse_integers(machine, state, made, call.node)
    return TensorRef(made)


ON_CPU = LEGACY_ON_CPU | {"torch.tensor"}
"""What makes tensors on the CPU unless asked otherwise."""


def _as_tensor(machine: Machine, state: State, source: TensorRef, call: Call) -> Value:
    """``as_tensor`` of a tensor: itself, or what ``to`` makes of it."""
    asked = {name: call.kwargs[name] for name in ("dtype", "device") if call.kwargs.get(name, NONE) != NONE}
    more = [value for value in call.args[1:] if value != NONE]
    return conversion(machine, state, source, Call("to", more, asked, call.node)) if more or asked else source


def _sizes_made(state: State, call: Call, source: Value) -> Extent:
    """The sizes of a new tensor: those asked for, or of what it is made of."""
    takes_sizes = call.name in LEGACY
    return sizes_made(state, call, source) if takes_sizes else displayed(state, source)


def _kind_made(state: State, name: str, source: Value, dtype: Value) -> Kind:
    """The dtype of a new tensor: that of the constructor, the one asked for, or what the values have."""
    kind = "float" if name == "torch.Tensor" else of_dtype(External(name) if dtype == NONE else dtype)
    return of_values(state, source) if kind is None and dtype == NONE else kind


def _lost_history(machine: Machine, state: State, source: Value, node: ast.AST) -> Cut | None:
    """Where the graph of what a tensor is made of was cut: at this call, or before; None if there was none."""
    if isinstance(source, TensorRef) and (origin := resolve_view(state, source.id)).requires_grad:
        return Cut(state.point(node), CutReason.REMADE, source=origin.grad_fn)
    if (lost := cut_of(machine, source)) is not None:
        return lost
    if reason := copied_from(state, source):
        return Cut(state.point(node), reason)
    lost = in_list(machine, state, source)
    if lost is not None and lost.reason is CutReason.NUMBER:
        return replace(lost, reason=CutReason.NUMBER_LIST)
    return lost


AGAIN = frozenset((CutReason.ITEM, CutReason.NUMBER, CutReason.NUMBER_LIST))
"""Why a tensor that was made anew may have no graph though one tensor in its place would have."""


def copied_from(state: State, source: Value) -> CutReason | None:
    """Why a tensor made of a list has no history: tensors in it had one. ``LOSSES`` if all of them are numbers for
    certain, so that stacking them gives the same tensor.
    """
    items = listed(state, source) or ()
    tensors = [resolve_view(state, item.id) for item in items if isinstance(item, TensorRef)]
    if not any(tensor.requires_grad for tensor in tensors):
        return None
    are_scalars = len(tensors) == len(items) and all(t.sizes == () for t in tensors)
    return CutReason.LOSSES if are_scalars else CutReason.TENSOR_LIST


@function("torch.autograd.Variable", "torch.autograd.variable.Variable", "torch.Variable")
def variable(machine: Machine, state: State, call: Call) -> Value:
    """Old code. ``Variable(t)`` is an alias of t without history that shares its version counter, like
    ``t.detach()``.
    """
    source = call.get(0, "data", NONE)
    wants = call.flag(1, "requires_grad", False)
    tensor = tensor_of(machine, state, source) if not isinstance(source, (Const, HeapRef, Tuple)) else None
    if tensor is None:
        return TensorRef(leaf(state, call.node, wants))
    made = cut(machine, state, resolve_view(state, tensor), call.node, CutReason.OPERATION, "Variable")
    if wants:
        refuse_integers(machine, state, made, call.node)
        machine.facts.record_provenance(made, Provenance(rewrapped=state.point(call.node)))
    give_history(state, state.tensors[made], None, wants)
    return TensorRef(made)


@function("torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.nn.UninitializedParameter")
def parameter(machine: Machine, state: State, call: Call) -> Value:
    return parameter_of(machine, state, call.get(0, "data", NONE), call.flag(1, "requires_grad", True), call.node)
