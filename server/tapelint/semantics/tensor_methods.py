"""Methods of tensors, and of unknown values: a call of one may tell what the value is."""

from __future__ import annotations

import ast
from functools import partial

from .. import ops
from ..autograd import Cut, CutReason, Provenance, fresh_id
from ..autograd.events.broken_graph import NumberBackward
from ..because import NOTHING, guess
from ..domain import facets
from ..domain.completion import ProgramRaised
from ..domain.induction import is_number
from ..domain.opaque_values import assumption_of, part_of
from ..domain.state import State
from ..domain.traversal import tensors_in
from ..domain.values import (
    BuiltinMethod,
    Const,
    Optimizer,
    Origin,
    TensorRef,
    Unknown,
    Value,
    something,
)
from ..engine.machine import Machine
from ..engine.observer import OpaqueReason
from ..engine.paths.conditions import forget
from ..models.python import array_memory
from ..models.torch import dispatch
from ..models.torch.autograd.backward_calls import ARGUMENTS
from ..models.torch.autograd.walked_unknowns import take_for_tensor
from ..models.torch.optim.handed_optimizers import unknown_may_hold
from ..models.torch.optim.optimizers import unknown_step
from ..models.torch.registry import (
    TENSOR_METHODS,
    Call,
)
from ..ops import conversions
from ..source import called_on, written
from .handed_closures import run_handed
from .unknown_calls import modelled, note_step, unknown_call

OF_TYPES = frozenset({("isinstance",), ("hasattr",)})
"""What conditions about the type of a value begin with."""


OF_DICTS = frozenset("pop get items".split())
"""Methods of Python's ``dict`` that give what is in it: of a batch of data they give data."""


OF_BATCHES = conversions.MOVING | {"pin_memory"}
"""Methods that a batch has, too, which is a dict or an object with tensors in it: they give another batch."""


READING = frozenset("copy get items values".split())
"""Methods of Python's ``dict``, or ``list``, that give parts of it. A tensor whose layout is sparse has one of these
names, too.
"""


OF_TENSORS = frozenset("detach unsqueeze permute contiguous".split())
"""Methods that only tensors have, and that return one: what is unknown is a tensor where the program calls them (of
torch.Tensor those that neither numpy.ndarray nor a batch has).
"""


SETTINGS = (facets.TRAINING, facets.REQUIRES_GRAD)
"""What is known of how a network was set that is not known."""


def setting_by(call: Call) -> dict[str, Value] | None:
    """What a method sets of an object that is not known, if that is a network; the method returns the object."""
    if call.name in ("eval", "train") and not call.args:
        return {facets.TRAINING: Const(call.name == "train")}
    if call.name == "requires_grad_":
        flag = call.flag(0, "requires_grad", True)
        return {facets.REQUIRES_GRAD: Unknown("requires_grad", False) if flag is None else Const(flag)}
    return None


def converted(machine: Machine, state: State, receiver: Unknown, call: Call, owner: Value) -> Value:
    """What a conversion of an object returns that is not known: it is set as the object is."""
    result = unknown_call(machine, state, call.args, call.kwargs, call.node, owner)
    given = state.given_attributes(receiver.tensor_id)
    known = {name: given[name] for name in SETTINGS if name in given}
    if known and isinstance(result, Unknown):
        state.edit_given_attributes(result.tensor_id).update(known)
    return result


def method_of_unknown(machine: Machine, state: State, receiver: Unknown, call: Call) -> Value | None:
    """A method of an unknown value: data gives data, and what only tensors have makes it a tensor. None where nothing
    follows from the name.
    """
    if receiver.requires_grad is False and call.name in OF_DICTS and all(isinstance(arg, Const) for arg in call.args):
        return Unknown(requires_grad=False, origin=Origin.ANY if call.name == "get" else Origin.BATCH)
    if receiver.origin is Origin.BATCH and _is_of_tensors(call):
        return _method_of_batch(machine, state, receiver, call)
    forget(state, receiver, call.name)
    if machine.facts.memory.arrays and call.name in array_memory.METHODS:
        array_memory.note_write(machine, state, receiver, call.node)
    if call.name in OF_TENSORS:
        return Unknown(requires_grad=False if call.name == "detach" else receiver.requires_grad, origin=Origin.BATCH)
    return _called_as(machine, state, receiver, call)


def _is_of_tensors(call: Call) -> bool:
    """Whether tensors have a method, and it is not called as that of a text: ``line.split(":")``, where a tensor is
    split by a number.
    """
    given = (*call.args, *call.kwargs.values())
    texts = [each for each in given if isinstance(each, Const) and isinstance(each.value, (str, bytes))]
    is_of_texts = hasattr(str, call.name) and (texts or not given)
    return not is_of_texts and (call.name in TENSOR_METHODS or bool(ops.candidates(call.name)))


def _called_as(machine: Machine, state: State, receiver: Unknown, call: Call) -> Value | None:
    """A method that says by its name what an unknown value is taken for: a loss, what holds a number, an optimizer."""
    match call.name:
        case "backward":
            return _walk_unknown(machine, state, receiver, call)
        case "item" if not call.args and not call.kwargs:
            return _number_in_unknown(machine, state, call.node)
        case "zero_grad":
            unknown_may_hold(machine, state, call.name)
        case "step" if _is_schedule(machine, state, receiver):
            return Unknown("step", False)
        case "step":
            unknown_may_hold(machine, state, call.name)
            return unknown_step(machine, state, call)
    return None


def _is_schedule(machine: Machine, state: State, value: Unknown) -> bool:
    """Whether what is stepped was made of an optimizer that the program steps by itself: of its learning rate."""
    optimizer = machine.facts.networks.schedules.get(value.tensor_id)
    return optimizer is not None and state.get(optimizer, Optimizer).stepped is not None


def _method_of_batch(machine: Machine, state: State, receiver: Unknown, call: Call) -> Value:
    """A method of tensors, of a part of a data set: that is one, unless a batch of tensors has the method, too."""
    if call.name in OF_BATCHES:
        return Unknown(requires_grad=receiver.requires_grad, origin=Origin.BATCH)
    if call.name == "requires_grad_" and isinstance(call.node, ast.Call) and isinstance(call.node.func, ast.Attribute):
        dispatch.release(state, call.node.func.value)
    tensor = dispatch.tensor_of(machine, state, receiver)
    assert tensor is not None
    return tensor_method(machine, state, TensorRef(tensor), call)


def _number_in_unknown(machine: Machine, state: State, node: ast.AST) -> Value:
    """``item()`` of what may be a tensor or an array: a number."""
    number, read = Unknown("item", False), Cut(state.point(node), CutReason.ITEM, "item")
    machine.facts.record_provenance(number.tensor_id, Provenance(cut=read))
    return number


def _walk_unknown(machine: Machine, state: State, receiver: Unknown, call: Call) -> Value | None:
    """``backward`` of what may be the root of a graph; None where it may do something else."""
    _refuse_number(machine, state, receiver, call.node)
    if (
        not call.args
        and call.kwargs.keys() <= ARGUMENTS
        and (key := take_for_tensor(machine, state, receiver, call.node)) is not None
    ):
        return tensor_method(machine, state, TensorRef(key), call)
    if not call.args:
        machine.unit.stats.backwards += 1
        machine.unit.stats.unknown_roots += 1
        machine.count_backward(state, call.node, False)
    return None


def _refuse_number(machine: Machine, state: State, receiver: Unknown, node: ast.AST) -> None:
    """Publish that a number has no ``backward``, and raise, if it was read from a tensor, or from what is taken for one
    by its ``item()``. Not where the program has asked what it is, or where a handler may be for this error.
    """
    origins = machine.facts.provenance_of(receiver.tensor_id)
    cut = origins.cut
    if cut is None or machine.handlers_around:
        return
    names = (receiver, receiver.formula, origins.number_in)
    if any(isinstance(asked, tuple) and asked[:1] in OF_TYPES and asked[1] in names for asked in state.path_condition):
        return
    is_tensor = cut.operation == "tolist" and (cut.source is None or cut.source.assumption is None)
    if is_number(receiver) or is_tensor or cut.operation == "item":
        because = (
            NOTHING if is_number(receiver) or is_tensor else guess(f"`{called_on(cut.point.node) or 'it'}` is a tensor")
        )
        machine.facts.events.publish(NumberBackward(point=state.point(node), because=because, cut=cut))
        raise ProgramRaised("AttributeError", "object has no attribute 'backward'", by_torch=True)


def tensor_method(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Value:
    if call.name in READING and assumption_of(state, receiver.id):
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
    return _unknown_method(machine, state, receiver, call)


def _unknown_method(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Value:
    """A method that PyTorch gives no tensor, or with arguments that it does not take."""
    if call.name == "step" and (result := unknown_step(machine, state, call)) is not None:
        return result
    if call.name == "astype" and state.tensors[receiver.id].assumption:
        return something(call.name, False)  # no tensor has it: what was taken for one is an array of NumPy
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
