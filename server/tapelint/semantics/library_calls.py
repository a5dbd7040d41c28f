"""Calls of a library's functions and classes, by their dotted names: their models, layers and networks, ops of PyTorch.

The order of the tests decides, from what is known best to what is not known.
"""

from __future__ import annotations

from functools import partial

from .. import ops
from ..domain import facets
from ..domain.mro import mro_of
from ..domain.opaque_values import KNOWN
from ..domain.state import State
from ..domain.values import Const, External, HeapRef, Instance, Mapping, Optimizer, Sequence, TensorRef, Tuple, Value
from ..engine.machine import Machine
from ..models.python.arrays import refuse_conversion
from ..models.torch import dispatch
from ..models.torch.autograd.grad_access import reach
from ..models.torch.nn.layer_models import build_layer, new_layer, opaque_module
from ..models.torch.nn.module_registry import is_module_like
from ..models.torch.registry import MODULE_METHODS, Call, model_of
from ..ops.module_names import is_layer, is_network
from .installed_calls import followed, installed_code
from .tensor_methods import tensor_method
from .unknown_calls import hand_over, modelled, unknown_call


def call_library(machine: Machine, state: State, call: Call) -> Value:
    """A function or class of a library: its own code where that is followed."""
    code = installed_code(machine, state, call.name, (*call.args, *call.kwargs.values()))
    if code is not None:
        run = partial(machine.call, state, code, call.args, call.kwargs, call.node, call.key)
        result = followed(machine, state, run)
        if result is not None:
            return result
    return _library(machine, state, call)


def _library(machine: Machine, state: State, call: Call) -> Value:
    """A function or class of a library, by its dotted name: its model, a layer or network, or an op of PyTorch."""
    name = call.name
    hand_over(machine, External(name), (*call.args, *call.kwargs.values()), KNOWN)
    model = model_of(name)
    if model is not None:
        return modelled(machine, state, call, External(name), partial(model, machine, state, call))
    base, _, last = name.rpartition(".")
    if _is_base(state, base, call.args):
        found = _unbound_module_method(machine, state, base, last, call)
        if found is not None:
            return found
    if is_network(name):
        return opaque_module(machine, state, name.removesuffix(".from_pretrained").rpartition(".")[2], call.node)
    if is_layer(name):
        return new_layer(machine, state, name, call.args, call.kwargs, call.node)
    row = ops.op_name(name)
    if row is not None:
        result = dispatch.run(machine, state, row, call.args, call.kwargs, call.node)
        if result is not None:
            return result
    if base == "torch.Tensor" and call.args and isinstance(call.args[0], TensorRef):
        return tensor_method(machine, state, call.args[0], Call(last, call.args[1:], call.kwargs, call.node, call.key))
    if last == "__init__" and call.args and isinstance(call.args[0], HeapRef):
        return _unknown_init(machine, state, call.args[0], call.args[1:])
    refuse_conversion(machine, state, call)
    return unknown_call(machine, state, call.args, call.kwargs, call.node, External(name))


def _is_base(state: State, name: str, args: list[Value]) -> bool:
    """Whether this is a class of layers, or one of a library from which the class of the first argument derives."""
    if name.endswith("torch.nn.Module") or is_layer(name):
        return True
    thing = state.heap.get(args[0].id) if args and isinstance(args[0], HeapRef) else None
    kind = thing.kind if isinstance(thing, Instance) else None
    return isinstance(kind, HeapRef) and External(name) in mro_of(state, kind)


def _unbound_module_method(machine: Machine, state: State, base: str, name: str, call: Call) -> Value | None:
    """``nn.Linear.__init__(self, 3, 4)``, ``nn.Module.train(net)``: a layer class's method, called on an object."""
    if name == "__init__" and call.args and is_layer(base):
        build_layer(machine, state, call.args[0], base, call.args[1:], call.kwargs, call.node)
        return Const(None)
    own, receiver = MODULE_METHODS.get(name), call.args[0] if call.args else None
    if own is None or not isinstance(receiver, HeapRef):
        return None
    if name == "__new__" or is_module_like(state, receiver):
        return own(machine, state, receiver, Call(name, call.args[1:], call.kwargs, call.node, call.key))
    return None


def _unknown_init(machine: Machine, state: State, receiver: HeapRef, args: list[Value]) -> Value:
    """The ``__init__`` of an unknown base class: afterwards the object may hold anything, and what it was given."""
    if isinstance(known := state.heap[receiver.id], (Instance, Sequence, Mapping, Optimizer)):
        thing = state.edit(receiver.id, type(known))
        thing.is_partial = True
        if isinstance(thing, Instance) and any(reach(machine, state, args)):
            thing.attributes[facets.GIVEN] = Tuple(tuple(args))
    return Const(None)
