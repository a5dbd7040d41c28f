"""Calls: who is called, with what; the program's own code is run, libraries are modelled, the rest is unknown.

An unknown callable that is given tensors with a graph returns a tensor that depends on them, by assumption.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from .. import ops
from ..autograd import fresh_id
from ..autograd.events.broken_graph import NumberBackward
from ..domain import facets
from ..domain.completion import ProgramRaised
from ..domain.induction import is_number
from ..domain.mro import is_function, own_method
from ..domain.opaque_values import KNOWN, as_data, part_of
from ..domain.state import State
from ..domain.traversal import tensors_in
from ..domain.values import (
    BoundMethod,
    BuiltinMethod,
    Class,
    Const,
    External,
    Function,
    GradMode,
    HeapRef,
    Instance,
    Mapping,
    Optimizer,
    Origin,
    Partial,
    Sequence,
    TensorRef,
    Tuple,
    Unknown,
    Value,
    something,
)
from ..engine.abstract_methods import is_left_to_others
from ..engine.escaping import SHOWS, escape, is_harmless
from ..engine.lifecycle import ModuleReturned, UnknownStepped
from ..engine.machine import EXPRESSIONS, Machine
from ..engine.module_system import is_in_stub
from ..engine.observer import OpaqueReason
from ..engine.open_objects import open_up
from ..engine.paths.conditions import forget, remembered
from ..engine.paths.open_options import fill_open
from ..engine.paths.switches import KEYWORDS, switch_at, switched
from ..models.python import array_memory
from ..models.python.sets import SETS
from ..models.python.text_methods import method_of_text
from ..models.python.unmodelled_methods import may_have_changed
from ..models.torch import dispatch
from ..models.torch.autograd.grad_access import handed_over, reach
from ..models.torch.autograd.tensor_hooks import module_hooks
from ..models.torch.autograd.walked_unknowns import take_for_tensor
from ..models.torch.measures import numel
from ..models.torch.nn.layer_models import build_layer, new_layer, opaque_module
from ..models.torch.nn.module_registry import is_module_like
from ..models.torch.optim.optimizers import unknown_step
from ..models.torch.registry import (
    FUNCTIONS,
    MAPPING_METHODS,
    MODULE_METHODS,
    OPTIMIZER_METHODS,
    SEQUENCE_METHODS,
    SET_METHODS,
    TENSOR_METHODS,
    ArgumentLeftOut,
    Call,
    MethodModel,
    Model,
    is_opaque,
)
from ..ops.module_names import is_layer, is_network
from ..source import written
from . import networks_by_use
from .classes import instantiate
from .functions import BATCH, call_function
from .handed_closures import run_handed
from .installed_calls import followed, installed_code
from .iteration import items_of
from .reassigned_data import kept_by, may_have_called
from .receivers import how_answers, is_only_of_tensors, is_own_of, runs_code, super_of
from .refused.refusals import refuse_call, refuse_iteration
from .refused.signatures import refuse_arguments, takes_as_given
from .refused.spelled import Given, items_spread, names_spread


def call(machine: Machine, node: ast.Call, state: State, key: object) -> Value:
    if isinstance(node.func, ast.Name) and node.func.id == "super":
        return super_of(state)
    function = machine.eval(node.func, state)
    args, kwargs, given = _arguments(machine, node, state, function)
    if not is_in_stub(machine.imports, state):  # another version of a framework calls alike
        refuse_call(state, function)
        refuse_arguments(state, function, given)
    machine.context.spelled_call = node if given is not None and takes_as_given(state, function) else None
    if node is machine.context.suspend_at:
        machine.context.suspend_at = None
        own = function.function if isinstance(function, BoundMethod) else function
        if isinstance(own, Function):  # after any other call more is to be done than to use its result
            passed = [function.receiver, *args] if isinstance(function, BoundMethod) else args
            return remembered(
                machine, node, state, call_function(machine, state, own, passed, kwargs, node, key, stepping=True)
            )
    result = call_value(machine, state, function, args, kwargs, node, key)
    _forward_returned(machine, state, function, node, result)
    return remembered(machine, node, state, result)


def _forward_returned(machine: Machine, state: State, function: Value, node: ast.Call, result: Value) -> None:
    """Publish that ``net.forward(x)`` has returned, which runs a network as ``net(x)`` does, but for its hooks."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr != "forward":
        return
    module = function.receiver if isinstance(function, (BoundMethod, BuiltinMethod)) else None
    if not isinstance(module, (HeapRef, Unknown)):
        return
    if _is_set(state, module) if isinstance(module, Unknown) else is_module_like(state, module):
        machine.lifecycle.module_returned.publish(machine, ModuleReturned(state, module, node, result))


def _arguments(
    machine: Machine, node: ast.Call, state: State, function: Value
) -> tuple[list[Value], dict[str, Value], Given | None]:
    """The arguments of a call, evaluated from left to right, and how many there are, if that is known; ``**batch`` of
    unknown data is kept whole for a function whose code is run.
    """
    args, is_counted = _positional(machine, node, state, function)
    kwargs, is_named = _named(machine, node, state, function)
    if not is_counted or not is_named:
        fill_open(function, kwargs, is_named)
    return args, kwargs, Given(len(args), frozenset(kwargs)) if is_counted and is_named else None


def _positional(machine: Machine, node: ast.Call, state: State, function: Value) -> tuple[list[Value], bool]:
    """The positional arguments of a call, and whether it has so many for certain."""
    args: list[Value] = []
    is_counted = True
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            spread = machine.eval(argument.value, state)
            refuse_iteration(state, spread)
            is_counted = is_counted and items_spread(machine, state, spread) is not None
            args += items_of(machine, state, spread, argument).values
        else:
            value = machine.eval(argument, state)
            switch = switch_at(function, len(args)) if isinstance(value, Unknown) else None
            args.append(switched(machine, argument, state, function, switch, value))
    return args, is_counted


def _named(machine: Machine, node: ast.Call, state: State, function: Value) -> tuple[dict[str, Value], bool]:
    """The keyword arguments of a call, and whether it has no others for certain."""
    kwargs: dict[str, Value] = {}
    is_named = True
    for keyword in node.keywords:
        value = machine.eval(keyword.value, state)
        if keyword.arg is not None:
            is_switch = keyword.arg in KEYWORDS and isinstance(value, Unknown) and not runs_code(state, function)
            kwargs[keyword.arg] = (
                switched(machine, keyword.value, state, function, keyword.arg, value) if is_switch else value
            )
            continue
        is_named = is_named and names_spread(machine, state, value, keyword.value) is not None
        if isinstance(value, HeapRef) and isinstance(thing := state.heap[value.id], Mapping):
            kwargs.update({k: v for k, v in thing.items.items() if isinstance(k, str)})
        elif isinstance(value := as_data(state, value), Unknown) and runs_code(state, function):
            kwargs[BATCH] = value
    return kwargs, is_named


def call_value(
    machine: Machine,
    state: State,
    function: Value,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    key: object = None,
) -> Value:
    """Call any value."""
    if isinstance(function, Function):
        return call_function(machine, state, function, args, kwargs, node, key)
    if isinstance(function, BoundMethod):
        if isinstance(function.function, External) and is_own_of(state, function.receiver, args):
            return call_value(machine, state, function.function, args, kwargs, node, key)
        return call_value(machine, state, function.function, [function.receiver, *args], kwargs, node, key)
    if isinstance(function, External):
        return _installed(machine, state, Call(function.name, args, kwargs, node, key))
    if isinstance(function, BuiltinMethod):
        return call_method(machine, state, function.receiver, Call(function.name, args, kwargs, node, key))
    if isinstance(function, Partial):
        return call_value(
            machine, state, function.function, [*function.args, *args], {**dict(function.kwargs), **kwargs}, node, key
        )
    if isinstance(function, HeapRef):
        thing = state.heap[function.id]
        if isinstance(thing, Class):
            return instantiate(machine, state, function, args, kwargs, node)
        if isinstance(thing, Instance) or is_module_like(state, function):
            return call_object(machine, state, function, Call("__call__", args, kwargs, node, key))
    if isinstance(function, GradMode) and args and isinstance(args[0], Function):
        return replace(args[0], grad_mode=function.mode, inference=function.inference)
    return _call_unknown(machine, state, function, args, kwargs, node)


def _call_unknown(
    machine: Machine, state: State, function: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST
) -> Value:
    """Call what is not known; that may be a network, if it was set to evaluation or training."""
    if isinstance(function, Const) and not callable(function.value):
        raise ProgramRaised("TypeError", f"'{type(function.value).__name__}' object is not callable")
    result = unknown_call(machine, state, args, kwargs, node, function)
    if isinstance(function, Unknown) and _is_set(state, function):
        machine.lifecycle.module_returned.publish(machine, ModuleReturned(state, function, node, result))
    return result


def _is_set(state: State, thing: Unknown) -> bool:
    """Whether what is not known was set to evaluation or training."""
    return facets.TRAINING in state.given_attributes(thing.tensor_id)


def call_object(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    """``obj(...)``, with the hooks that wait for it."""
    if state.hooks:
        hooks = module_hooks(state, receiver)
        if hooks is not None:
            return hooks.around(machine, state, call)
    return call_unhooked(machine, state, receiver, call.args, call.kwargs, call.node, call.key)


def call_unhooked(
    machine: Machine,
    state: State,
    receiver: HeapRef,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    key: object = None,
) -> Value:
    """Its own ``__call__``, or ``forward`` of a Module."""
    thing = state.heap[receiver.id]
    if isinstance(thing, Instance) and facets.UNBUILT not in thing.attributes:
        for name in ("__call__", "forward"):
            own = own_method(state, receiver, name)
            if own is not None and name == "forward" and is_function(state, thing.kind):
                raise ProgramRaised("RuntimeError", "Legacy autograd function with non-static forward method", True)
            if own is not None and is_left_to_others(machine, state, receiver, own):
                return unknown_call(machine, state, args, kwargs, node, receiver)
            if own is not None:
                result = call_value(machine, state, _read(machine, state, own, node), args, kwargs, node, key)
                machine.lifecycle.module_returned.publish(machine, ModuleReturned(state, receiver, node, result))
                return result
        known = FUNCTIONS.get(f"{thing.kind.name}.__call__") if isinstance(thing.kind, External) else None
        if known is not None:
            return known(machine, state, Call("__call__", [receiver, *args], kwargs, node, key))
    model = MODULE_METHODS.get("forward")
    if model is None:
        return unknown_call(machine, state, args, kwargs, node, receiver)
    result = model(machine, state, receiver, Call("__call__", args, kwargs, node, key))
    machine.lifecycle.module_returned.publish(machine, ModuleReturned(state, receiver, node, result))
    return result


def _read(machine: Machine, state: State, own: Value, node: ast.AST) -> Value:
    """A method of an object; what a property of that name returns."""
    if isinstance(own, BoundMethod) and isinstance(own.function, Function) and own.function.kind == "property":
        return machine.memoize(node, "property", lambda key: call_value(machine, state, own, [], {}, node, key))
    return own


def call_dunder(
    machine: Machine, state: State, receiver: Value, name: str, args: list[Value], node: ast.AST
) -> Value | None:
    """Call a special method of the program's own class, on every path; None where it has none."""
    own = own_method(state, receiver, name)
    if own is None:
        return None
    return machine.memoize(node, name, lambda key: call_value(machine, state, own, args, {}, node, key))


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
        if call.name in CONVERSIONS:
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
        is_of_tensors = is_only_of_tensors(call.name) and call.name not in CONVERSIONS  # packed sequences have these
        if (receiver.is_spelled or is_of_tensors) and not hasattr(tuple, call.name):
            raise _lacking("tuple", call.name)
        return None
    found = method_of_text(state, receiver.value, call) if isinstance(receiver.value, str) else None
    if found is None and not hasattr(receiver.value, call.name):
        raise _lacking(type(receiver.value).__name__, call.name)
    return found


def _lacking(kind: str, name: str) -> ProgramRaised:
    return ProgramRaised("AttributeError", f"'{kind}' object has no attribute '{name}'")


CONVERSIONS = frozenset("to cuda cpu float double half bfloat16".split())
"""Methods by which a network converts itself, and a tensor returns another."""
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


FILLING = frozenset("append extend insert update".split())
"""Methods by which a container of modules gets more of them, one of a class that derives from it, too."""


def _object_method(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value | None:
    """A method of a list, a dict, a module, an optimizer or another object; None where there is no model of it."""
    thing = state.heap[receiver.id]
    if isinstance(thing, Instance):
        if isinstance(thing.kind, External):
            known = FUNCTIONS.get(f"{thing.kind.name}.{call.name}")
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
    return thing.attributes.get(facets.CONTAINER) if name in FILLING else None


def _flows(machine: Machine, state: State, thing: Instance, call: Call) -> bool | None:
    """Whether a method that is not known returns what its network makes of the arguments; None if that is unknown."""
    known = how_answers(state, thing, call.name)
    return True if known is None and networks_by_use.is_walked(machine, state, thing, call.node) else known


def _methods_of(thing: object, name: str) -> dict[str, MethodModel] | None:
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
    if machine.facts.arrays and call.name in array_memory.METHODS:
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


OF_TYPES = frozenset({("isinstance",), ("hasattr",)})
"""What conditions about the type of a value begin with."""

OF_DICTS = frozenset("pop get items".split())
"""Methods of a dict that give what is in it: of a batch of data they give data."""

OF_BATCHES = frozenset("to cuda cpu pin_memory".split())
"""Methods that a batch has, too, which is a dict or an object with tensors in it: they give another batch."""

METHODS = {
    Sequence: SEQUENCE_METHODS,
    Mapping: MAPPING_METHODS,
    Optimizer: OPTIMIZER_METHODS,
    Instance: MODULE_METHODS,
}
"""Models of methods by what has them."""

READING = frozenset("copy get items values".split())
"""Methods of a dict, or a list, that give parts of it. A tensor whose layout is sparse has one of these names, too."""

OF_TENSORS = frozenset("detach unsqueeze permute contiguous".split())
"""Methods that only tensors have, and that return one: what is unknown is a tensor where the program calls them."""


def tensor_method(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Value:
    if call.name in READING and state.tensors[receiver.id].assumption:
        return part_of(machine.facts, state, receiver.id, call.node)
    method = TENSOR_METHODS.get(call.name)
    if method is not None:
        run = partial(_run_method, method, receiver)
        return _modelled(machine, state, call, BuiltinMethod(receiver, call.name), run)
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
    _stepped(machine, state, found, call.node)
    return dispatch.opaque(
        machine, state, found, call.node, written(call.node.func) if isinstance(call.node, ast.Call) else call.name
    )


def _installed(machine: Machine, state: State, call: Call) -> Value:
    """A function or class of a library: its own code where that is followed."""
    code = installed_code(machine, state, call.name, (*call.args, *call.kwargs.values()))
    if code is not None:
        run = partial(call_value, machine, state, code, call.args, call.kwargs, call.node, call.key)
        result = followed(machine, state, run)
        if result is not None:
            return result
    return _library(machine, state, call)


def _library(machine: Machine, state: State, call: Call) -> Value:
    """A function or class of a library, by its dotted name: its model, a layer or network, or an op of PyTorch."""
    name = call.name
    _hand_over(machine, External(name), (*call.args, *call.kwargs.values()), KNOWN)
    model = FUNCTIONS.get(name)
    if model is not None:
        return _modelled(machine, state, call, External(name), model)
    if is_network(name):
        return opaque_module(machine, state, name.removesuffix(".from_pretrained").rpartition(".")[2], call.node)
    base, _, last = name.rpartition(".")
    if base.endswith("torch.nn.Module") or is_layer(base):
        found = _unbound_module_method(machine, state, base, last, call)
        if found is not None:
            return found
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
    return unknown_call(machine, state, call.args, call.kwargs, call.node, External(name))


def _modelled(machine: Machine, state: State, call: Call, function: Value, model: Model) -> Value:
    """What the model of a ``function`` returns; one that looks at a place for what is given by name knows nothing."""
    try:
        return model(machine, state, call)
    except ArgumentLeftOut:
        if not call.kwargs:
            raise
        return unknown_call(machine, state, call.args, call.kwargs, call.node, function)


def _run_method(method: MethodModel, receiver: Value, machine: Machine, state: State, call: Call) -> Value:
    return method(machine, state, receiver, call)


def _unbound_module_method(machine: Machine, state: State, base: str, name: str, call: Call) -> Value | None:
    """``nn.Linear.__init__(self, 3, 4)``, ``nn.Module.train(net)``: a layer class's method, called on an object."""
    if name == "__init__" and call.args and is_layer(base):
        build_layer(machine, state, call.args[0], base, call.args[1:], call.kwargs, call.node)
        return Const(None)
    own = MODULE_METHODS.get(name)
    if own is not None and call.args and (name == "__new__" or is_module_like(state, call.args[0])):
        return own(machine, state, call.args[0], Call(name, call.args[1:], call.kwargs, call.node, call.key))
    return None


def _unknown_init(machine: Machine, state: State, receiver: HeapRef, args: list[Value]) -> Value:
    """The ``__init__`` of an unknown base class: afterwards the object may hold anything, and what it was given."""
    if isinstance(known := state.heap[receiver.id], (Instance, Sequence, Mapping, Optimizer)):
        thing = state.edit(receiver.id, type(known))
        thing.is_partial = True
        if isinstance(thing, Instance) and any(reach(machine, state, args)):
            thing.attributes[facets.GIVEN] = Tuple(tuple(args))
    return Const(None)


def unknown_call(
    machine: Machine, state: State, args: list[Value], kwargs: dict[str, Value], node: ast.AST, function: Value
) -> Value:
    """A call of unknown code."""
    machine.leave_opaque(node, function, OpaqueReason.UNKNOWN)
    state.unread = state.unread if is_harmless(function) else fresh_id()
    _hand_over(machine, function, (function, *args, *kwargs.values()))
    if machine.facts.arrays:
        array_memory.written_by_call(machine, state, function, args, kwargs, node)
    values = (*args, *kwargs.values())
    run_handed(machine, state, values, node)
    held = handed_over(machine, state, function, values)
    given = [t for value in values for t in tensors_in(state, value)]
    if given:
        state.retaining.clear()  # it may walk what was retained
        escape(machine, state, given, function)
    _stepped(machine, state, [*given, *held], node)
    name = written(node.func) if isinstance(node, ast.Call) else "call"
    result = dispatch.opaque(machine, state, given, node, name) if given else Unknown("call")
    if held and isinstance(result, Unknown):
        machine.facts.holders[result.tensor_id] = held
    callbacks = () if is_harmless(function) else kept_by(state, function, values)
    if callbacks:
        may_have_called(machine, state, callbacks, node)
        if isinstance(result, Unknown):
            state.edit_given_attributes(result.tensor_id)[facets.CALLBACKS] = Tuple(callbacks)
    return result


RUN = ("exec", "eval")
"""Functions of Python that run code which they are given, beside the methods of its classes."""


def _stepped(machine: Machine, state: State, given: list[int], node: ast.AST) -> None:
    """``step()`` of what is not known and was given tensors: it may be an optimizer of them."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step" and given:
        if not node.args and not node.keywords:
            machine.lifecycle.unknown_stepped.publish(machine, UnknownStepped(state, node, given))


def _hand_over(machine: Machine, function: Value, values: Iterable[Value], known: frozenset[str] = SHOWS) -> None:
    """Code that is not read is given these, unless it is of a library that is ``known`` to put nothing into them."""
    root, _, rest = function.name.partition(".") if isinstance(function, External) else ("", "", "")
    if root not in known or root == "builtins" and ("." in rest or rest in RUN) or rest.startswith("optim."):
        open_up(machine, values)


EXPRESSIONS[ast.Call] = call
