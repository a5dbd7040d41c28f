"""Calls of code that is not known: what it is given may be changed, kept, or a graph that its result leads to."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence

from ..autograd import fresh_id
from ..autograd.model.graph_search import nodes_below
from ..autograd.passes.retained_graphs import needed
from ..domain import facets
from ..domain.state import State
from ..domain.traversal import tensors_in
from ..domain.values import (
    External,
    HeapRef,
    Instance,
    Optimizer,
    Origin,
    Tuple,
    Unknown,
    Value,
)
from ..engine.lifecycle import UnknownStepped
from ..engine.machine import Machine
from ..engine.observer import OpaqueReason
from ..engine.open_objects import SHOWS, escape, forget_items, is_display, is_harmless, open_up
from ..engine.paths.conditions import PURE
from ..engine.syntax.asked import ONLY_OF_NETWORKS
from ..models.python import array_memory
from ..models.torch import dispatch
from ..models.torch.autograd.grad_access import handed_over, reach
from ..models.torch.optim.gradient_scaling import forget_stages
from ..models.torch.registry import (
    ArgumentLeftOut,
    Call,
)
from ..source import cached_on_node, last_name, walk, written
from .handed_closures import run_handed
from .networks_by_use import goes_into_walk
from .reassigned_data import kept_by, may_have_called


def unknown_call(
    machine: Machine, state: State, args: list[Value], kwargs: dict[str, Value], node: ast.AST, function: Value
) -> Value:
    """A call of unknown code."""
    machine.leave_opaque(node, function, OpaqueReason.UNKNOWN)
    if _may_do_anything(function, node):
        state.unread = state.unread if goes_into_walk(machine, state, node) else fresh_id()
        forget_items(state, (function, *args, *kwargs.values()))
    hand_over(machine, function, (function, *args, *kwargs.values()))
    if machine.facts.memory.arrays:
        array_memory.written_by_call(machine, state, function, args, kwargs, node)
    values = (*args, *kwargs.values())
    run_handed(machine, state, values, node)
    held = handed_over(machine, state, function, values)
    _note_handed(machine, state, node, function, (held, values))
    given = [t for value in values for t in tensors_in(state, value)]
    if given:
        needed(machine.facts, state, nodes_below(state.grad_fns(given)))  # it may walk what was retained
        escape(machine, state, given, function, may_walk=_may_walk(node))
    note_step(machine, state, [*given, *held], node)
    name = written(node.func) if isinstance(node, ast.Call) else "call"
    made = Unknown("call", origin=Origin.DISPLAY if is_display(function) else Origin.ANY)
    result = dispatch.opaque(machine, state, given, node, name) if given else made
    if held and isinstance(result, Unknown):
        machine.facts.objects.holders[result.tensor_id] = held
        _note_schedule(machine, state, result, values)
    callbacks = () if is_harmless(function) else kept_by(state, function, values)
    if callbacks:
        may_have_called(machine, state, callbacks, node)
        if isinstance(result, Unknown):
            state.edit_given_attributes(result.tensor_id)[facets.CALLBACKS] = Tuple(callbacks)
    return result


def _note_schedule(machine: Machine, state: State, result: Unknown, given: Sequence[Value]) -> None:
    """Note of what optimizer alone something was made: it may set the learning rate, and be stepped beside it."""
    one = [v for v in given if isinstance(v, HeapRef) and isinstance(state.heap[v.id], Optimizer)]
    if len(one) == 1 and not any(reach(machine, state, [value for value in given if value != one[0]])):
        machine.facts.networks.schedules[result.tensor_id] = one[0].id


def _note_handed(
    machine: Machine, state: State, node: ast.AST, function: Value, handed: tuple[frozenset[int], Sequence[Value]]
) -> None:
    """Note what unknown code has seen: leaves, and the scalers among values."""
    (leaves, values), training = handed, machine.facts.training
    if leaves and not _is_set_up(machine, state, node, function):
        training.shown |= leaves
    if training.scalers or training.handed_scalers:
        forget_stages(machine, state, _objects_in(state, values))


def _is_set_up(machine: Machine, state: State, node: ast.AST, function: Value) -> bool:
    """Whether a call prints or initializes what it is given: of a library, before any loop, the result is dropped."""
    is_function = isinstance(function, External) and not state.iterations
    return is_function and node in _statements(machine.running_file(state))


@cached_on_node
def _statements(tree: ast.AST) -> frozenset[ast.AST]:
    """The calls whose results are dropped."""
    return frozenset(node.value for node in walk(tree) if isinstance(node, ast.Expr))


def _objects_in(state: State, values: Iterable[Value]) -> Iterator[int]:
    """The objects among some values, and those that they hold."""
    for value in values:
        if isinstance(value, HeapRef):
            yield value.id
            thing = state.heap[value.id]
            held = thing.attributes.values() if isinstance(thing, Instance) else ()
            yield from (each.id for each in held if isinstance(each, HeapRef))


PUTTING = frozenset(("append", "appendleft", "extend", "extendleft", "insert", "setdefault", "__setitem__"))
"""The methods by which Python's lists, deques and dicts take items, but for those that metrics have as well."""
TRAINING = frozenset(("step", "fit", "optim", "train"))
"""Attributes by which code trains, in PyTorch and in the libraries around it."""


def _may_walk(node: ast.AST) -> bool:
    """Whether a call puts what it is given into a container, which may be read later, or trains with it."""
    return isinstance(node, ast.Call) and getattr(node.func, "attr", "") in PUTTING | TRAINING


RUN = ("exec", "eval")
"""Functions of Python that run code which they are given, beside the methods of its classes."""


def note_step(machine: Machine, state: State, given: list[int], node: ast.AST) -> None:
    """``step()`` of what is not known and was given tensors: it may be an optimizer of them."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step" and given:
        if not node.args and not node.keywords:
            machine.lifecycle.unknown_stepped.publish(machine, UnknownStepped(state, node, given))


def _may_do_anything(function: Value, node: ast.AST) -> bool:
    """Whether a call may train, or fill what it is given: none that only asks for something."""
    asked = last_name(node.func) if isinstance(node, ast.Call) else ""
    is_of_layer = isinstance(function, External) and function.name.startswith("torch.nn.")
    return not (is_of_layer or is_harmless(function) or asked in PURE or asked in ONLY_OF_NETWORKS)


def hand_over(machine: Machine, function: Value, values: Iterable[Value], known: frozenset[str] = SHOWS) -> None:
    """Code that is not read is given these, unless it is of a library that is ``known`` to put nothing into them."""
    root, _, rest = function.name.partition(".") if isinstance(function, External) else ("", "", "")
    fills = rest.startswith("optim.") and not rest.startswith("optim.lr_scheduler.")  # groups of parameters
    is_known = root in known or is_display(function)
    if not is_known or root == "builtins" and ("." in rest or rest in RUN) or fills:
        open_up(machine, values)


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
