"""How a function without a caller is called: with which arguments, in which mode, as a test, by a framework; and once
more with tensors that require grad.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..autograd import leaf
from ..autograd.events.graph_walks import BackwardWithoutGraph, Event
from ..because import NOTHING, Because, guess
from ..domain.completion import Raise
from ..domain.mro import is_function, is_module, own_function
from ..domain.state import State
from ..domain.values import (
    NONE,
    Class,
    Frame,
    Function,
    HeapRef,
    Origin,
    TensorRef,
    Unknown,
    Value,
    defaults_of,
    something,
    without_defaults,
)
from ..engine.machine import Machine
from ..engine.paths.abandoned import AbandonedPaths
from ..engine.syntax.syntactic_summary import syntactic_summary
from ..models.frameworks.training_loops import Unrecorded, Walk, loop_of, unrecorded, walk_of
from ..models.torch.autograd.grad_mode import turns_on
from ..source import cached_on_node, is_none, walk
from . import framework_driver
from .arguments import inferred, positional
from .attribute_flow import may_carry
from .caller import Caller
from .candidates import definition_of, is_applied, is_run_by_tests, may_write, trains
from .latent import LatentSearch, initialized
from .object_state import give_all, prepare
from .parameter_uses import initializes, tensor_parameters
from .quiet_uses import is_unrecorded, mentions_unrecorded, runs_unrecorded
from .test_functions import verdict_of

GIVEN = guess("callers give what has a default")
"""What a function rests on that Python refuses to run with its defaults."""
LEFT_OUT = guess("what Python refuses to run here is given what it needs")
"""What a function rests on that it refuses to run then, too: without the calls that it refuses."""


def run_entry(machine: Machine, base: tuple[State, Any], function: Function, owner: HeapRef | None) -> list[State]:
    """Run one function with inferred arguments; a method on an object made with inferred arguments."""
    state, node = base[0].fork(), definition_of(function)
    machine.facts.training.gradient_relevant.clear()  # what the script clears under a test is none of its business
    receiver = _receiver(function, owner, base[1])
    if is_run_by_tests(machine, state, function, owner):
        return _run_test(machine, state, function, receiver, owner)
    if not _may_run(machine, function):
        return [state]
    if owner is not None and receiver is not None and function.kind != "class":
        loop = loop_of(machine, state, owner, node.name)
        if loop is not None:
            return framework_driver.run_loop(machine, state, loop, receiver, node)
    begun = machine.unit.stats.backwards
    ends = _call_as_inferred(machine, state, function, receiver, owner)
    if not trains(machine, node):
        return ends
    if ends and all(map(_is_refused, ends)):
        given = base[0].fork()
        give_all(machine, given, receiver)
        ends = _call_as_inferred(machine, given, without_defaults(function), receiver, owner, GIVEN)
    is_stuck = machine.unit.stats.backwards == begun and machine.unit.notes.record(AbandonedPaths).raised
    if is_stuck or ends and all(map(_is_unwanted, ends)):
        machine.unit.leaves_out_refused = True
        ends = _call_as_inferred(machine, base[0].fork(), function, receiver, owner, LEFT_OUT)
    return ends


def call_after(
    machine: Machine, base: tuple[State, Any], function: Function, before: Function, owner: HeapRef | None
) -> list[State]:
    """Run a function that trains after one that leaves gradients off, as the loop of a caller does, and publish where
    it misses a graph for that.
    """
    events, heard = machine.facts.events, list[Event]()
    with events.heard_by():
        ends = run_entry(machine, base, before, owner)
    with events.heard_by(heard.append):
        for path in ends:
            if path.completion is None and path.grad_mode is False:
                run_entry(machine, (path, base[1]), function, owner)
    because = guess(f"`{definition_of(function).name}` is called after `{definition_of(before).name}`, too")
    for event in heard:
        if isinstance(event, BackwardWithoutGraph) and event.cut is not None and event.cut.grad_mode_set_at is not None:
            events.publish(replace(event, because=event.because & because))
    return [base[0]]


def _is_refused(state: State) -> bool:
    return isinstance(state.completion, Raise) and state.completion.error.is_refusal


def _is_unwanted(state: State) -> bool:
    return isinstance(state.completion, Raise) and state.completion.error.is_unwanted


def _run_test(
    machine: Machine, state: State, function: Function, receiver: HeapRef | None, owner: HeapRef | None
) -> list[State]:
    """Call a test, or a fixture as if it were one, unless it is skipped."""
    verdict = verdict_of(machine, state, function, owner)
    if verdict.runs is False:
        return [state]
    values = _arguments(machine, state, function, receiver)
    because = guess(f"`{definition_of(function).name}` is not skipped") if verdict.runs is None else NOTHING
    caller = Caller(machine, function, receiver, owner, values, None, False)
    with machine.facts.events.assuming(because), machine.facts.events.handling(verdict.fails):
        return machine.run_paths(state, caller.call)


def _call_as_inferred(
    machine: Machine,
    state: State,
    function: Function,
    receiver: HeapRef | None,
    owner: HeapRef | None,
    supposed: Because = NOTHING,
) -> list[State]:
    """Call a function with inferred arguments, in the mode and as often as its caller would; what is ``supposed`` of
    them is a reason of all that is found.
    """
    node = definition_of(function)
    if machine.query(turns_on, node):
        state.grad_mode = None  # what the function turns on may be off where it is called
    quiet = unrecorded(state, owner, node.name) if owner is not None else None
    function = _with_mode(state, function, owner, quiet)
    values = _arguments(machine, state, function, receiver)
    walk = walk_of(state, owner, receiver, node.name) if owner is not None and receiver is not None else None
    because = supposed & _reason(machine, state, node, quiet, walk)
    if _is_fed(node.name, walk, quiet):
        values = _from_loader(values, positional(function, int(receiver is not None))[:1])
    is_forward = _is_forward(state, node, owner)
    if owner is None and _is_initializer(machine, state, function):
        because &= guess(f"`{node.name}` is given parameters, as the functions of torch.nn.init beside it are")
        values |= {each.arg: TensorRef(leaf(state, node, True)) for each in positional(function, 0)[:1]}
    caller = Caller(machine, function, receiver, owner, values, walk, is_forward and _is_walked(machine, node))
    with machine.facts.events.assuming(because):
        is_once = owner is None or is_forward or quiet is not None
        return caller.call_once(state) if is_once else caller.call_again(state)


def _is_initializer(machine: Machine, state: State, function: Function) -> bool:
    """Whether a function initializes parameters, in a file that switches gradients off nowhere."""
    return not machine.query(mentions_unrecorded, machine.tree) and initializes(machine, state, function)


def _is_forward(state: State, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: HeapRef | None) -> bool:
    """Whether a method is the ``forward`` of a network."""
    return node.name == "forward" and owner is not None and is_module(state, owner)


def _is_walked(machine: Machine, forward: ast.AST) -> bool:
    """Whether a caller may go backward through what a ``forward`` returns: it does not train by itself, and is not run
    without gradients.
    """
    return not trains(machine, forward) and not machine.query(runs_unrecorded, machine.tree, forward)


def _with_mode(state: State, function: Function, owner: HeapRef | None, quiet: Unrecorded | None) -> Function:
    """A function as it is called: with gradients switched off where a framework, or ``apply``, calls it so."""
    is_off = quiet is not None or is_applied(state, function, owner)
    return replace(function, grad_mode=False) if is_off else function


def _may_run(machine: Machine, function: Function) -> bool:
    """Whether a function runs by itself: of the generators those that train."""
    node = definition_of(function)
    return not syntactic_summary(node).yields or not _is_wrapped(function) and trains(machine, node)


def _is_wrapped(function: Function) -> bool:
    """Whether a decorator makes something else of a function, such as a context manager of a generator."""
    return bool(definition_of(function).decorator_list) and not function.kind


def _receiver(function: Function, owner: HeapRef | None, made: Any) -> HeapRef | None:
    """What a function is called on: the object that was ``made``, or for a class method its class."""
    if owner is None or function.kind == "static":
        return None
    return owner if function.kind == "class" else made


def _arguments(machine: Machine, state: State, function: Function, receiver: HeapRef | None) -> dict[str, Value]:
    """What is inferred for the parameters of a function, in their order; on a path that supposes something not for
    those that are None by default.
    """
    names = positional(function, int(receiver is not None))
    given = inferred(machine, state, function, names)
    if state.supposed:
        given = {name: value for name, value in given.items() if defaults_of(function).get(name) != NONE}
    return {a.arg: given[a.arg] for a in (*names, *function.node.args.kwonlyargs) if a.arg in given}


def _reason(
    machine: Machine,
    state: State,
    node: ast.FunctionDef | ast.AsyncFunctionDef,
    quiet: Unrecorded | None,
    walked: Walk | None,
) -> Because:
    """What is assumed of the caller, if it records no graph: a framework, or the places that mention the function. One
    that walks what the function returns records it.
    """
    because = guess(quiet.premise(node.name)) if quiet is not None else NOTHING
    if walked is None and machine.query(is_unrecorded, machine.tree, node) and not trains(machine, node):
        state.enter(False, None)
        because = because or guess(f"`{node.name}` is called under `torch.no_grad()`, as the file mentions it")
    return because


def _is_fed(name: str, walk: Walk | None, quiet: Unrecorded | None) -> bool:
    """Whether a framework gives a method batches of a loader."""
    return walk is not None and walk.fed or quiet is not None and quiet.fed.fullmatch(name) is not None


def _from_loader(values: dict[str, Value], batch: Sequence[ast.arg]) -> dict[str, Value]:
    """Arguments of which that for ``batch`` comes from a loader: what is unknown of them is data."""
    first = {parameter.arg for parameter in batch}
    return {
        name: (Unknown(requires_grad=False, origin=Origin.BATCH) if name in first else something(name, False))
        if isinstance(value, Unknown)
        else value
        for name, value in values.items()
    }


def imagined_call(
    machine: Machine, base: tuple[State, Any], function: Function, owner: HeapRef | None, led: frozenset[str] | None
) -> list[State]:
    """Call a function as a caller might whose tensors require grad, of the parameters ``led`` (None: of any); not where
    a framework calls it without a graph.
    """
    state, node = base[0].fork(), definition_of(function)
    receiver = _receiver(function, owner, base[1])
    if owner is not None and unrecorded(state, owner, node.name) is not None:
        return [state]
    carried = receiver if owner is not None and may_carry(machine, state, owner, function) else None
    if carried is not None:
        prepare(machine, state, carried, function)
    values = _arguments(machine, state, function, receiver)
    kind = owner if receiver is not None else None
    left = values.keys() - machine.query(initialized, node)
    tensors = [name for name in tensor_parameters(machine, state, function, kind) if name in left]
    search = LatentSearch(Caller(machine, function, receiver, owner, values), tuple(tensors))
    if machine.query(may_write, node, *machine.trees):
        if (shorter := _left_out(search)).caller.values != values:
            shorter.try_once(state, led)
        search.try_once(state, led)
    if carried is not None:
        search.try_again(state)
    return [state]


def _left_out(search: LatentSearch) -> LatentSearch:
    """A caller that leaves out what is None by default, as most do."""
    caller = search.caller
    optional = [name for name, default in defaults_of(caller.function).items() if default == NONE]
    values = {name: NONE if name in optional else value for name, value in caller.values.items()}
    return LatentSearch(replace(caller, values=values), tuple(name for name in search.tensors if name not in optional))


def functions_of(state: State, module: int) -> Iterator[tuple[HeapRef, Function]]:
    """The ``torch.autograd.Function``s that a module defines, each with its backward."""
    for kind in list(state.get(module, Frame).variables.values()):
        if isinstance(kind, HeapRef) and isinstance(state.heap.get(kind.id), Class) and is_function(state, kind):
            forward, backward = own_function(state, kind, "forward"), own_function(state, kind, "backward")
            if backward is not None and all(_is_own(state, module, method) for method in (forward, backward)):
                yield kind, backward


def _is_own(state: State, module: int, method: Function | None) -> bool:
    """Whether a method is defined in the module, and as a static one."""
    return method is not None and method.kind == "static" and state.get(method.frame, Frame).module == module


def imagine_apply(machine: Machine, state: State, kind: HeapRef) -> list[State]:
    """Apply a Function whose backward no pass has reached, and go backward through what it returns."""
    forward, backward = own_function(state, kind, "forward"), own_function(state, kind, "backward")
    assert forward is not None and backward is not None
    spec = forward.node.args
    parameters = [*spec.posonlyargs, *spec.args][own_function(state, kind, "setup_context") is None :]
    values = defaults_of(forward) | inferred(machine, state, forward, parameters)
    given = {each.arg: values.get(each.arg) or Unknown(each.arg, False) for each in parameters}
    names = [name for name in tensor_parameters(machine, state, forward) if name in given]
    returned = machine.query(_gradients, backward.node)
    if returned and all(len(parts) == len(parameters) for parts in returned):  # one gradient for each tensor
        names = [name for index, name in enumerate(given) if any(parts[index] for parts in returned)]
    if names:
        caller = Caller(machine, forward, None, kind, given, applies=True)
        LatentSearch(caller, tuple(names)).try_once(state)
    return [state]


@cached_on_node
def _gradients(backward: ast.AST) -> tuple[tuple[bool, ...], ...]:
    """For each ``return`` of a backward which of the values are gradients, not None."""
    returned = (node.value for node in walk(backward) if isinstance(node, ast.Return))
    parts = (value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value] for value in returned)
    return tuple(tuple(not is_none(part) for part in each if part is not None) for each in parts)
