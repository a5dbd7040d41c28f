"""Calls: who is called, with what; the program's own code is run, libraries are modelled, the rest is unknown.

An unknown callable that is given tensors with a graph returns a tensor that depends on them, by assumption.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from ..autograd.model.choices import ALWAYS
from ..because import NOTHING, RunBy, option
from ..domain import facets
from ..domain.completion import ProgramRaised
from ..domain.mro import is_function, own_method
from ..domain.opaque_values import as_data
from ..domain.state import State
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
    Partial,
    Unknown,
    Value,
)
from ..engine.lifecycle import ModuleReturned
from ..engine.machine import EXPRESSIONS, Machine
from ..engine.module_system import is_in_stub
from ..engine.paths.conditions import remembered
from ..engine.paths.open_options import fill_open
from ..engine.paths.switches import KEYWORDS, switch_at, switched
from ..models.torch.autograd.tensor_hooks import module_hooks
from ..models.torch.nn.module_registry import is_module_like
from ..models.torch.registry import (
    MODULE_METHODS,
    Call,
    model_of,
)
from ..source import written
from .classes import instantiate
from .functions import BATCH, call_function
from .iteration import spread
from .library_calls import call_library
from .methods import call_method
from .receivers import is_left_to_others, is_own_of, runs_code, runs_constructor, super_of
from .refused.refusals import refuse_call, refuse_iteration
from .refused.signatures import needed, refuse_arguments, takes_as_given
from .refused.spelled import Given, items_spread, names_spread
from .unknown_calls import unknown_call


def call(machine: Machine, node: ast.Call, state: State, key: object) -> Value:
    if isinstance(node.func, ast.Name) and node.func.id == "super":
        return super_of(state, machine.eval(node.args[0], state) if node.args else None)
    function = machine.eval(node.func, state)
    args, kwargs, given = _arguments(machine, node, state, function)
    if isinstance(function, External):  # a library takes what it is given
        machine.context.spelled_call = None
    else:
        if not is_in_stub(machine.imports, state):  # another version of a framework calls alike
            refuse_call(state, function)
            if _goes_on_without(machine, state, function, given, node):
                return remembered(machine, node, state, unknown_call(machine, state, args, kwargs, node, function))
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
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("forward", "step"):
        _note_method(machine, state, function, args, node, node.func.attr, result)
    return remembered(machine, node, state, result)


def _goes_on_without(machine: Machine, state: State, function: Value, given: Given | None, node: ast.Call) -> bool:
    """Whether Python refuses what a function is given, where the script would end whatever its tests give: what comes
    after is followed for a caller who mends that. Elsewhere it raises.
    """
    try:
        refuse_arguments(state, function, given)
    except ProgramRaised:
        premise = option(f"`{written(node.func)}` is given what it takes")
        is_certain = state.guard.whole == ALWAYS and state.supposed in (NOTHING, premise)
        if not is_certain or machine.handlers_around or machine.unit.run_by is not RunBy.PROGRAM:
            raise
        state.supposed = premise
        return True
    return False


def _note_method(
    machine: Machine, state: State, method: Value, args: list[Value], node: ast.Call, name: str, result: Value
) -> None:
    """Note that a method has returned: ``net.forward(x)``, which runs a network as ``net(x)`` does, but for its hooks;
    ``step``, unless it is not known what has it, and it is given what an optimizer is: nothing, or a closure.
    """
    receiver = method.receiver if isinstance(method, (BoundMethod, BuiltinMethod)) else None
    if name == "forward" and isinstance(receiver, (HeapRef, Unknown)):
        if _is_set(state, receiver) if isinstance(receiver, Unknown) else is_module_like(state, receiver):
            machine.lifecycle.module_returned.publish(machine, ModuleReturned(state, receiver, node, result))
    elif name == "step":
        is_known = receiver is not None and not isinstance(receiver, Unknown)
        if is_known or not all(isinstance(given, Function) for given in args):
            machine.facts.training.steps.add(node)


def _arguments(
    machine: Machine, node: ast.Call, state: State, function: Value
) -> tuple[list[Value], dict[str, Value], Given | None]:
    """The arguments of a call, evaluated from left to right, and how many there are, if that is known; ``**batch`` of
    unknown data is kept whole for a function whose code is run.
    """
    args, is_counted = _positional(machine, node, state, function)
    kwargs, is_named = _named(machine, node, state, function) if node.keywords else ({}, True)
    if not is_counted or not is_named:
        fill_open(function, kwargs, is_named)
    return args, kwargs, Given(len(args), frozenset(kwargs)) if is_counted and is_named else None


def _positional(machine: Machine, node: ast.Call, state: State, function: Value) -> tuple[list[Value], bool]:
    """The positional arguments of a call, and whether it has so many for certain."""
    args: list[Value] = []
    is_counted = True
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            given = machine.eval(argument.value, state)
            refuse_iteration(state, given)
            is_counted = is_counted and items_spread(machine, state, given) is not None
            most = max(machine.limits.unroll, needed(state, function) - len(args) - len(node.keywords))
            args += spread(machine, state, given, argument, most).values
        else:
            value = machine.eval(argument, state)
            switch = switch_at(function, len(args)) if isinstance(value, Unknown) else None
            args.append(value if switch is None else switched(machine, argument, state, function, switch, value))
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
        elif not isinstance(value := as_data(state, value), Unknown):
            continue
        elif runs_code(state, function) or runs_constructor(state, function):
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
        return call_library(machine, state, Call(function.name, args, kwargs, node, key))
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
        known = model_of(f"{thing.kind.name}.__call__") if isinstance(thing.kind, External) else None
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


EXPRESSIONS[ast.Call] = call
