"""Methods that are not the program's own: of tensors, containers, modules and optimizers by their models, of what is
not known by what follows from the name.

The order in which the kinds of receivers are asked is what decides: a tensor, an object, a value of Python, and then
what may be anything.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from .. import ops
from ..autograd import fresh_id
from ..autograd.events.broken_graph import NumberBackward
from ..domain import facets
from ..domain.completion import ProgramRaised
from ..domain.induction import is_number
from ..domain.opaque_values import as_data, part_of
from ..domain.state import State
from ..domain.traversal import tensors_in
from ..domain.values import (
    BuiltinMethod,
    Const,
    External,
    HeapRef,
    Instance,
    Mapping,
    Optimizer,
    Origin,
    Sequence,
    TensorRef,
    Tuple,
    Unknown,
    Value,
    something,
)
from ..engine.machine import Machine
from ..engine.observer import OpaqueReason
from ..engine.paths.conditions import ADDING, forget
from ..models.python import array_memory
from ..models.python.sets import SETS
from ..models.python.text_methods import method_of_text
from ..models.python.unmodelled_methods import may_have_changed
from ..models.torch import dispatch
from ..models.torch.autograd.walked_unknowns import take_for_tensor
from ..models.torch.measures import numel
from ..models.torch.optim.optimizers import unknown_step
from ..models.torch.registry import (
    MAPPING_METHODS,
    MODULE_METHODS,
    OPTIMIZER_METHODS,
    SEQUENCE_METHODS,
    SET_METHODS,
    TENSOR_METHODS,
    ArgumentLeftOut,
    Call,
    MethodModel,
    is_opaque,
    model_of,
)
from ..ops import conversions
from ..semantics import networks_by_use
from ..source import written
from .handed_closures import run_handed
from .receivers import how_answers, is_only_of_tensors
from .unknown_calls import note_step, unknown_call

OF_TYPES = frozenset({("isinstance",), ("hasattr",)})
"""What conditions about the type of a value begin with."""

OF_DICTS = frozenset("pop get items".split())
"""Methods of Python's ``dict`` that give what is in it: of a batch of data they give data."""

OF_BATCHES = conversions.MOVING | {"pin_memory"}
"""Methods that a batch has, too, which is a dict or an object with tensors in it: they give another batch."""

METHODS = {
    Sequence: SEQUENCE_METHODS,
    Mapping: MAPPING_METHODS,
    Optimizer: OPTIMIZER_METHODS,
    Instance: MODULE_METHODS,
}
"""Models of methods by what has them."""

READING = frozenset("copy get items values".split())
"""Methods of Python's ``dict``, or ``list``, that give parts of it. A tensor whose layout is sparse has one of these
names, too.
"""

OF_TENSORS = frozenset("detach unsqueeze permute contiguous".split())
"""Methods that only tensors have, and that return one: what is unknown is a tensor where the program calls them (of
torch.Tensor those that neither numpy.ndarray nor a batch has).
"""


def call_method(machine: Machine, state: State, receiver: Value, call: Call) -> Value:
    """A method that is not the program's own."""
    if isinstance(receiver, TensorRef):
        return tensor_method(machine, state, receiver, call)
    if isinstance(receiver, HeapRef):
        found = _object_method(machine, state, receiver, call)
        if found is not None:
            return found
    if isinstance(receiver, (Const, Tuple)) and (plain := _plain_method(state, receiver, call)) is not None:
        return plain
    owner = receiver
    if is_opaque(state, receiver):
        forget(state, receiver, call.name)
        receiver = as_data(state, receiver)
    if isinstance(receiver, Unknown):
        found = _method_of_unknown(machine, state, receiver, call)
        if found is not None:
            return found
        if (setting := _setting(call)) is not None:
            unknown_call(machine, state, call.args, call.kwargs, call.node, owner)
            state.edit_given_attributes(receiver.tensor_id).update(setting)
            return owner
        if call.name in conversions.OF_MODULES:
            return _converted(machine, state, receiver, call, owner)
    may_have_changed(machine, state, receiver, call.name)
    return unknown_call(machine, state, call.args, call.kwargs, call.node, owner)


def _plain_method(state: State, receiver: Const | Tuple, call: Call) -> Value | None:
    """A method of a value of Python; None where there is no model of it. What a library returns may be of a class that
    is derived from ``tuple``.
    """
    if isinstance(receiver, Tuple):
        if call.name == "numel":
            return numel(receiver)
        is_of_tensors = (
            is_only_of_tensors(call.name) and call.name not in conversions.OF_MODULES
        )  # packed sequences have these
        if (receiver.is_spelled or is_of_tensors) and not hasattr(tuple, call.name):
            raise _lacking("tuple", call.name)
        return None
    found = method_of_text(state, receiver.value, call) if isinstance(receiver.value, str) else None
    if found is None and not hasattr(receiver.value, call.name):
        raise _lacking(type(receiver.value).__name__, call.name)
    return found


def _lacking(kind: str, name: str) -> ProgramRaised:
    return ProgramRaised("AttributeError", f"'{kind}' object has no attribute '{name}'")


SETTINGS = (facets.TRAINING, facets.REQUIRES_GRAD)
"""What is known of how a network was set that is not known."""


def _setting(call: Call) -> dict[str, Value] | None:
    """What a method sets of an object that is not known, if that is a network; the method returns the object."""
    if call.name in ("eval", "train") and not call.args:
        return {facets.TRAINING: Const(call.name == "train")}
    if call.name == "requires_grad_":
        flag = call.flag(0, "requires_grad", True)
        return {facets.REQUIRES_GRAD: Unknown("requires_grad", False) if flag is None else Const(flag)}
    return None


def _converted(machine: Machine, state: State, receiver: Unknown, call: Call, owner: Value) -> Value:
    """What a conversion of an object returns that is not known: it is set as the object is."""
    result = unknown_call(machine, state, call.args, call.kwargs, call.node, owner)
    given = state.given_attributes(receiver.tensor_id)
    known = {name: given[name] for name in SETTINGS if name in given}
    if known and isinstance(result, Unknown):
        state.edit_given_attributes(result.tensor_id).update(known)
    return result


def _object_method(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value | None:
    """A method of a list, a dict, a module, an optimizer or another object; None where there is no model of it."""
    thing = state.heap[receiver.id]
    if isinstance(thing, Instance):
        if isinstance(thing.kind, External):
            known = model_of(f"{thing.kind.name}.{call.name}")
            if known is not None:
                return known(machine, state, Call(call.name, [receiver, *call.args], call.kwargs, call.node, call.key))
        if (inner := _in_its_place(thing, call.name)) is not None:
            return call_method(machine, state, inner, call)
    table = _methods_of(thing, call.name)
    model = table.get(call.name) if table is not None else None
    if model is None and isinstance(thing, Instance):
        flows = _flows(machine, state, thing, call)
        if flows is False:
            return something(call.name)
        model = MODULE_METHODS["forward"] if flows else None
    if model is not None:
        return model(machine, state, receiver, call)
    if isinstance(thing, Mapping) and thing.kind == "dict" and is_only_of_tensors(call.name):
        raise _lacking("dict", call.name)
    return None


def _in_its_place(thing: Instance, name: str) -> Value | None:
    """What answers a method of an object whose class derives from an optimizer or from a container of modules."""
    if name in OPTIMIZER_METHODS and facets.OPTIMIZED in thing.attributes:
        return thing.attributes[facets.OPTIMIZED]
    return thing.attributes.get(facets.CONTAINER) if name in ADDING else None


def _flows(machine: Machine, state: State, thing: Instance, call: Call) -> bool | None:
    """Whether a method that is not known returns what its network makes of the arguments; None if that is unknown."""
    known = how_answers(state, thing, call.name)
    return True if known is None and networks_by_use.is_walked(machine, state, thing, call.node) else known


def _methods_of(thing: object, name: str) -> dict[str, MethodModel[HeapRef]] | None:
    """The models of the methods of a heap object; a container of layers is a module, too."""
    table = METHODS.get(type(thing))
    if isinstance(thing, Sequence) and thing.kind in SETS and name in SET_METHODS:
        return SET_METHODS
    if name not in MODULE_METHODS:
        return table
    if isinstance(thing, Sequence) and thing.kind in ("ModuleList", "Sequential"):
        return SEQUENCE_METHODS if name in SEQUENCE_METHODS else MODULE_METHODS
    if isinstance(thing, Mapping) and thing.kind == "ModuleDict":
        return MAPPING_METHODS if name in MAPPING_METHODS else MODULE_METHODS
    return table


def _method_of_unknown(machine: Machine, state: State, receiver: Unknown, call: Call) -> Value | None:
    """A method of an unknown value: data gives data, and what only tensors have makes it a tensor. None where nothing
    follows from the name.
    """
    if receiver.requires_grad is False and call.name in OF_DICTS and all(isinstance(arg, Const) for arg in call.args):
        return Unknown(requires_grad=False, origin=Origin.BATCH)
    if receiver.origin is Origin.BATCH and (call.name in TENSOR_METHODS or ops.candidates(call.name)):
        return _method_of_batch(machine, state, receiver, call)
    forget(state, receiver, call.name)
    if machine.facts.memory.arrays and call.name in array_memory.METHODS:
        array_memory.note_write(machine, state, receiver, call.node)
    if call.name in OF_TENSORS:
        return Unknown(requires_grad=False if call.name == "detach" else receiver.requires_grad, origin=Origin.BATCH)
    if call.name == "backward":
        _walk_unknown(machine, state, receiver, call)
    return unknown_step(machine, state, call) if call.name == "step" else None


def _method_of_batch(machine: Machine, state: State, receiver: Unknown, call: Call) -> Value:
    """A method of tensors, of a part of a data set: that is one, unless a batch of tensors has the method, too."""
    if call.name in OF_BATCHES:
        return Unknown(requires_grad=receiver.requires_grad, origin=Origin.BATCH)
    tensor = dispatch.tensor_of(machine, state, receiver)
    assert tensor is not None
    return tensor_method(machine, state, TensorRef(tensor), call)


def _walk_unknown(machine: Machine, state: State, receiver: Unknown, call: Call) -> None:
    """``backward`` of what may be the root of a graph."""
    _refuse_number(machine, state, receiver, call.node)
    if not call.args and not call.kwargs and (key := take_for_tensor(machine, state, receiver, call.node)) is not None:
        tensor_method(machine, state, TensorRef(key), call)
    elif not call.args:
        machine.unit.stats.backwards += 1
        machine.unit.stats.unknown_roots += 1
        machine.count_backward(state, call.node, False)


def _refuse_number(machine: Machine, state: State, receiver: Unknown, node: ast.AST) -> None:
    """Publish that a number has no ``backward``, and raise, if it was read from a tensor with a graph for certain. Not
    where the program has asked what it is, or where a handler may be for this error.
    """
    origins = machine.facts.provenance_of(receiver.tensor_id)
    cut = origins.cut
    if cut is None or machine.handlers_around:
        return
    names = (receiver, receiver.formula, origins.number_in)
    if any(isinstance(asked, tuple) and asked[:1] in OF_TYPES and asked[1] in names for asked in state.path_condition):
        return
    if is_number(receiver) or cut.operation == "tolist" and (cut.source is None or cut.source.assumption is None):
        machine.facts.events.publish(NumberBackward(point=state.point(node), cut=cut))
        raise ProgramRaised("AttributeError", "object has no attribute 'backward'", by_torch=True)


def tensor_method(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Value:
    if call.name in READING and state.tensors[receiver.id].assumption:
        return part_of(machine.facts, state, receiver.id, call.node)
    method = TENSOR_METHODS.get(call.name)
    if method is not None:
        function = BuiltinMethod(receiver, call.name)
        return modelled(machine, state, call, function, partial(method, machine, state, receiver, call))
    row = ops.op_name("torch.Tensor." + call.name)
    if row is not None:
        result = dispatch.run(machine, state, row, [receiver, *call.args], call.kwargs, call.node)
        if result is not None:
            return result
    if call.name == "step" and (result := unknown_step(machine, state, call)) is not None:
        return result
    found = [receiver.id, *(t for a in call.args for t in tensors_in(state, a))]
    if state.tensors[receiver.id].requires_grad is False and not any(state.tensors[t].requires_grad for t in found):
        return something(call.name, False)
    machine.leave_opaque(call.node, BuiltinMethod(receiver, call.name), OpaqueReason.UNKNOWN)
    state.unread = fresh_id()
    run_handed(machine, state, (*call.args, *call.kwargs.values()), call.node)
    note_step(machine, state, found, call.node)
    return dispatch.opaque(
        machine, state, found, call.node, written(call.node.func) if isinstance(call.node, ast.Call) else call.name
    )


def modelled(machine: Machine, state: State, call: Call, function: Value, run: Callable[[], Value]) -> Value:
    """What a ``run`` of the model of a ``function`` returns; one that looks at a place for what is given by name knows
    nothing.
    """
    try:
        return run()
    except ArgumentLeftOut:
        if not call.kwargs:
            raise
        return unknown_call(machine, state, call.args, call.kwargs, call.node, function)
