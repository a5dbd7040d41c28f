"""Functions without a caller: what they are given, and how often they are called.

class Trainer:
    def __init__(self, width=8): ...      an object is made, with inferred arguments
    def training_step(self, batch): ...   called twice on it, which is the loop its caller would write
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from functools import partial
from typing import Any

from ..autograd import Node
from ..autograd.events.graph_walks import Event
from ..because import NOTHING, Because, guess
from ..domain.mro import is_function, is_module, mro_of
from ..domain.parameter_defaults import defaults_of
from ..domain.state import State
from ..domain.values import NONE, BoundMethod, Class, Frame, Function, HeapRef, Origin, Unknown, Value, something
from ..engine.lifecycle import PathEnded
from ..engine.machine import Machine
from ..engine.module_system import LoadedModule
from ..engine.syntax.syntactic_summary import is_abstract, syntactic_summary
from ..frozen import frozen
from ..models.frameworks.training_loops import WALKED, Unrecorded, Walk, loop_of, unrecorded, walk_of
from ..models.torch.autograd.grad_access import between_calls, through
from ..models.torch.autograd.grad_mode import turns_on
from ..semantics.calls import call_value
from ..source import walk
from . import framework_driver
from .arguments import inferred
from .attribute_flow import called_undeclared
from .graph_caller import GraphCaller, imagined_tensor, may_carry
from .in_place_sites import may_write
from .inherited_templates import call_site, inherited_templates
from .local_functions import run_left_behind
from .no_grad_only import is_unrecorded, runs_unrecorded
from .object_state import prepare
from .parameter_uses import possible_tensors, tensor_parameters
from .repeated_calls import RepeatedCall, once
from .test_functions import fixture_of, inherited_tests, is_test, run_test
from .uncalled_generators import drained
from .used_by_optimizers import serves_optimizers

TRAINED = guess("a caller goes backward through the result")

TRAINING = frozenset(("backward", "step"))
TRAINS = 0
"""The urgency of what goes backward."""
NON_TRAINING = 3
"""The urgency of what does not train."""


def priority(function: ast.AST, trees: Sequence[ast.AST]) -> int:
    """What is most likely to hold a hazard runs first, as long as the budget lasts: what reaches backward; ``forward``
    methods; what trains through functions of these files; and then what only makes something, or looks at it.
    """
    if syntactic_summary(function).backward or getattr(function, "name", "") in WALKED:
        return TRAINS
    if getattr(function, "name", "") == "forward":
        return 1
    return 2 if through(function, *trees) & TRAINING else NON_TRAINING


@frozen
class Candidate:
    """A function that is an entry point unless code that has run has called it, or what derived classes fill in."""

    function: Function
    # The class on whose objects it runs.
    owner: HeapRef | None = None
    # What is executed by running it: itself; for an inherited method what the class defines of what that calls.
    parts: frozenset[ast.AST] = frozenset()
    # Whether it is a test of a base class, which runs on the objects of each class that has it.
    is_inherited_test: bool = False

    def is_reached(self, called: Set[ast.AST]) -> bool:
        """Whether all of it was called."""
        if self.is_inherited_test:
            return False
        return self.parts <= called if self.parts else self.function.node in called


def unreached_functions(
    machine: Machine, state: State, module: int, loads: Iterable[LoadedModule]
) -> Iterator[Candidate]:
    """Functions of the module, then methods of its classes, that were never run."""
    defined = {statement.name for statement in machine.tree.body if isinstance(statement, ast.FunctionDef)}
    others = {loaded.frame for loaded in loads if not loaded.is_stub}
    for name, value in list(state.get(module, Frame).variables.items()):
        if isinstance(value, Function) and isinstance(value.node, ast.FunctionDef):
            if name in defined or _is_own(state, module, value):  # or a decorator from another file has wrapped it
                yield Candidate(value)
        elif isinstance(value, HeapRef) and isinstance(state.heap.get(value.id), Class):
            yield from _methods(machine, state, module, value)
            yield from _inherited(machine, state, module, value, others)


def _inherited(machine: Machine, state: State, module: int, kind: HeapRef, others: Set[int]) -> Iterator[Candidate]:
    """The methods of other classes that run on the objects of a class of the module."""
    tests = [*inherited_tests(machine, state, kind)]
    yield from (Candidate(test, kind, is_inherited_test=True) for test in tests)
    for method, parts in inherited_templates(machine, state, module, kind, others):
        if method not in tests:
            yield Candidate(method, kind, parts)


def _is_own(state: State, module: int, function: Function) -> bool:
    """Not imported from another file, which is where it is tried out."""
    return state.get(function.frame, Frame).module == module


def _methods(machine: Machine, state: State, module: int, kind: HeapRef) -> Iterator[Candidate]:
    """The methods that a class of the module defines, each with the class on whose objects it runs."""
    itself = [] if _has_no_objects(state, kind) else [kind]
    complete = _completed(machine, state, module, kind)
    for function in list(state.get(kind.id, Class).attributes.values()):
        if not isinstance(function, Function) or function.owner != kind.id or not _is_own(state, module, function):
            continue
        name = _definition(function).name
        if name != "__init__":
            heirs = [heir for heir in complete if name not in state.get(heir.id, Class).attributes]
            for owner in (heirs if not machine.query(is_abstract, function.node) else []) or itself:
                yield Candidate(function, owner)


def _has_no_objects(state: State, kind: HeapRef) -> bool:
    """Whether a class's own ``__init__`` ends in a `raise` whatever it is given: derived classes have another one."""
    made = state.get(kind.id, Class).attributes.get("__init__")
    body = getattr(made.node, "body", []) if isinstance(made, Function) and made.owner == kind.id else []
    ends = isinstance(body, list) and bool(body) and isinstance(body[-1], ast.Raise)
    return ends and not any(isinstance(node, ast.Return) for statement in body for node in walk(statement))


def _definition(function: Function) -> ast.FunctionDef | ast.AsyncFunctionDef:
    """The ``def`` of a function that runs as an entry point; a lambda never does."""
    assert not isinstance(function.node, ast.Lambda)
    return function.node


def _completed(machine: Machine, state: State, module: int, base: HeapRef) -> list[HeapRef]:
    """The first classes of the module that define what ``base`` leaves to derived ones: its methods run on theirs."""
    abstract = {
        name
        for name, function in state.get(base.id, Class).attributes.items()
        if isinstance(function, Function) and machine.query(is_abstract, function.node)
    }
    undeclared = called_undeclared(machine, state, base)
    if not abstract and not undeclared:
        return []
    own = {heir: state.get(heir.id, Class).attributes.keys() for heir in _heirs(state, module, base)}
    left = abstract | undeclared.intersection(*own.values())
    return [heir for heir, names in own.items() if left and left <= names][: machine.limits.heirs]


def _heirs(state: State, module: int, base: HeapRef) -> list[HeapRef]:
    """The classes of the module that derive from ``base``."""
    others = state.get(module, Frame).variables.values()
    kinds = [each for each in others if isinstance(each, HeapRef) and isinstance(state.heap.get(each.id), Class)]
    return [kind for kind in kinds if kind != base and base in mro_of(state, kind)]


@frozen
class EntryCall:
    """The call that runs a function without a caller: on ``receiver``, an object of ``owner`` or that class, with
    ``values`` by parameter. A framework may ``walk`` what it returns; of a ``forward`` that ``is_walked`` the one who
    trains does.
    """

    function: Function
    node: ast.FunctionDef | ast.AsyncFunctionDef
    receiver: HeapRef | None
    owner: HeapRef | None
    values: dict[str, Value]
    walk: Walk | None
    is_walked: bool

    def run(self, machine: Machine, state: State) -> None:
        """Call it, then do what its caller does with the result."""
        result = machine.memoize(self.node, "drive", partial(self._result, machine, state))
        if self.is_walked:
            roots = framework_driver.with_graph(state, result)
            framework_driver.imagine_backward(machine, state, roots, self.node, TRAINED)
        elif self.walk is not None and self.receiver is not None:
            framework_driver.batch_ends(machine, state, self.walk, self.receiver, result, self.node)
        around = state.get(state.get(self.function.frame, Frame).module, Frame).variables.values()
        receiver = () if self.receiver is None else (self.receiver,)
        reachable = [result, *receiver, *self.values.values(), *around]
        machine.lifecycle.path_ended.publish(machine, PathEnded(state, result, reachable))
        run_left_behind(machine, state, (result, *receiver))

    def run_led(self, machine: Machine, names: dict[Node, str], state: State) -> None:
        """Call it with tensors that require grad for what is unknown and may be such: ``names`` has them by node."""
        values = dict(self.values)
        for name in possible_tensors(machine, state, self.function, self.owner):
            match values.get(name):
                case Unknown(requires_grad=None):
                    values[name], node = imagined_tensor(machine, state, name, self.node)
                    if node is not None:
                        names[node] = name
        replace(self, values=values).run(machine, state)

    def _result(self, machine: Machine, state: State, key: object) -> Value:
        if self.walk is not None and self.receiver is not None:
            if state.iterations[-1].number == 1:
                framework_driver.begin(machine, state, self.walk, self.receiver, self.node)
            framework_driver.batch_begins(machine, state, self.walk, self.receiver, self.node)
        elif self.receiver is not None:
            prepare(machine, state, self.receiver, self.function)
        bound = self.function if self.receiver is None else BoundMethod(self.function, self.receiver)
        site = self.node if self.owner is None else call_site(state, machine.module, self.function, self.owner)
        made = machine.memoize(
            self.node, "made", lambda key: call_value(machine, state, bound, [], dict(self.values), site, key)
        )
        return drained(machine, state, made, key)


def run_entry(machine: Machine, base: tuple[State, Any], function: Function, owner: HeapRef | None) -> list[State]:
    """Run one function with inferred arguments; a method on an object made with inferred arguments."""
    state, node = base[0].fork(), _definition(function)
    receiver = _receiver(function, owner, base[1])
    if is_run_by_tests(machine, state, function, owner):
        return run_test(machine, state, function, owner, receiver)
    if not _may_run(machine, function):
        return [state]
    if owner is not None and receiver is not None and function.kind != "class":
        loop = loop_of(machine, state, owner, node.name)
        if loop is not None:
            return framework_driver.run_loop(machine, state, loop, receiver, node)
    if machine.query(turns_on, node):
        state.grad_mode = None  # what the function turns on may be off where it is called
    quiet = unrecorded(state, owner, node.name) if owner is not None else None
    function = _with_mode(state, function, owner, quiet)
    values = _arguments(machine, state, function, receiver)
    because = _reason(machine, state, node, quiet)
    walk = walk_of(state, owner, receiver, node.name) if owner is not None and receiver is not None else None
    if _is_fed(node.name, walk, quiet):
        values = _from_loader(values, _parameters(function, receiver)[:1])
    is_forward = _is_forward(state, node, owner)
    call = EntryCall(function, node, receiver, owner, values, walk, is_forward and _is_walked(machine, node))
    with machine.facts.events.assuming(because):
        return _driven(machine, state, call, is_once=is_forward or quiet is not None)


def _is_forward(state: State, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: HeapRef | None) -> bool:
    """Whether a method is the ``forward`` of a network."""
    return node.name == "forward" and owner is not None and is_module(state, owner)


def _is_walked(machine: Machine, forward: ast.AST) -> bool:
    """Whether a caller may go backward through what a ``forward`` returns: it does not train by itself, and is not run
    without gradients.
    """
    return not trains(machine, forward) and not machine.query(runs_unrecorded, machine.tree, forward)


def is_run_by_tests(machine: Machine, state: State, function: Function, owner: HeapRef | None) -> bool:
    """Whether a function has a caller that is known: it is a test, or a fixture of tests."""
    if is_test(machine, state, function, owner):
        return True
    return machine.serves_tests and fixture_of(machine, state, function) is not None


def _with_mode(state: State, function: Function, owner: HeapRef | None, quiet: Unrecorded | None) -> Function:
    """A function as it is called: with gradients switched off where a framework, or ``apply``, calls it so."""
    is_off = quiet is not None or _is_applied(state, function, owner)
    return replace(function, grad_mode=False) if is_off else function


def _is_applied(state: State, function: Function, owner: HeapRef | None) -> bool:
    """Whether ``apply`` calls it, and no graph is recorded: the ``forward`` of a ``torch.autograd.Function``."""
    is_forward = function.kind == "static" and _definition(function).name == "forward"
    return is_forward and owner is not None and is_function(state, owner)


def _may_run(machine: Machine, function: Function) -> bool:
    """Whether a function runs by itself: of the generators those that train."""
    node = _definition(function)
    return not syntactic_summary(node).yields or not _is_wrapped(function) and trains(machine, node)


def _is_wrapped(function: Function) -> bool:
    """Whether a decorator makes something else of a function, such as a context manager of a generator."""
    return bool(_definition(function).decorator_list) and not function.kind


def is_worth_imagining(
    machine: Machine, state: State, function: Function, owner: HeapRef | None, loads: Iterable[LoadedModule]
) -> bool:
    """Whether a caller with graphs may meet a hazard in a function, as far as its text shows."""
    node = _definition(function)
    is_quiet = is_unrecorded(machine.tree, node) or _is_applied(state, function, owner)
    is_quiet = is_quiet or node.name == "forward" and machine.query(runs_unrecorded, machine.tree, node)
    if is_quiet or serves_optimizers(machine.tree, state, machine.module, function, owner):
        return False
    if is_run_by_tests(machine, state, function, owner):
        return False
    if syntactic_summary(node).yields:
        return False
    trees = (machine.tree, *(module.source.tree for module in loads))
    return may_write(node, *trees) or owner is not None and may_carry(machine, state, owner, function)


def imagined_call(
    machine: Machine, base: tuple[State, Any], function: Function, owner: HeapRef | None, led: frozenset[str] | None
) -> list[State]:
    """Call a function as a caller might whose tensors require grad, of the parameters ``led`` (None: of any); not where
    a framework calls it without a graph.
    """
    state, node = base[0].fork(), _definition(function)
    receiver = _receiver(function, owner, base[1])
    if owner is not None and unrecorded(state, owner, node.name) is not None:
        return [state]
    carried = receiver if owner is not None and may_carry(machine, state, owner, function) else None
    if carried is not None:
        prepare(machine, state, carried, function)
    values = _arguments(machine, state, function, receiver)
    kind = owner if receiver is not None else None
    tensors = [name for name in tensor_parameters(machine, state, function, kind) if name in values]
    caller = GraphCaller(machine, function, receiver, values, tuple(tensors))
    if machine.query(may_write, node, *machine.trees):
        optional = {name: NONE for name, default in defaults_of(function).items() if default == NONE and name in values}
        if optional:  # it is left out, which is what most callers do, and given
            caller.without(optional).try_once(state, led)
        caller.try_once(state, led)
    if carried is not None:
        caller.try_again(state)
    return [state]


def _receiver(function: Function, owner: HeapRef | None, made: Any) -> HeapRef | None:
    """What a function is called on: the object that was ``made``, or for a class method its class."""
    if owner is None or function.kind == "static":
        return None
    return owner if function.kind == "class" else made


def _parameters(function: Function, receiver: HeapRef | None) -> list[ast.arg]:
    """The parameters that take positional arguments, without that for the ``receiver``."""
    spec = function.node.args
    return [*spec.posonlyargs, *spec.args][0 if receiver is None else 1 :]


def _arguments(machine: Machine, state: State, function: Function, receiver: HeapRef | None) -> dict[str, Value]:
    """What is inferred for the parameters of a function, in their order."""
    names = _parameters(function, receiver)
    given = inferred(machine, state, function, names)
    return {a.arg: given[a.arg] for a in (*names, *function.node.args.kwonlyargs) if a.arg in given}


def _reason(
    machine: Machine, state: State, node: ast.FunctionDef | ast.AsyncFunctionDef, quiet: Unrecorded | None
) -> Because:
    """What is assumed of the caller, if it records no graph: a framework, or the places that mention the function."""
    because = guess(quiet.premise(node.name)) if quiet is not None else NOTHING
    if machine.query(is_unrecorded, machine.tree, node) and not trains(machine, node):
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


def trains(machine: Machine, function: ast.AST) -> bool:
    """Whether a function goes backward, through functions of this file and those it imports as well."""
    return "backward" in machine.query(through, function, *machine.trees)


def _driven(machine: Machine, state: State, call: EntryCall, is_once: bool) -> list[State]:
    """Run it once, or again and again where that is what its caller does."""
    if call.owner is None or is_once:
        return once(machine, state, call.function, call.receiver, partial(call.run, machine), call.run_led)
    return _again_and_again(machine, state, call)


def _again_and_again(machine: Machine, state: State, call: EntryCall) -> list[State]:
    """A method that reaches backward is called once per step by code that trains: run it twice on the same object,
    which is the loop its caller would write. So is one after which the object, or what else outlives the call, holds a
    graph that the call has built.
    """
    function, effect = call.function, partial(call.run, machine)
    run, before, heard = machine.new_run(), machine.unit.stats.backwards, list[Event]()
    with machine.facts.events.heard_by(*machine.facts.events.listeners, heard.append):
        machine.begin_iteration(state, function.node, run, 1, 0)
        ended = machine.run_paths(state, effect)
        walks = machine.unit.stats.backwards > before
        repeated = RepeatedCall(function, call.receiver, run, walks, effect, call.run_led, heard)
        if not walks and not repeated.keeps_graph(ended):
            return ended
        results: list[State] = []
        ended = machine.join_and_cap(ended)
        for path in ended:
            if path.completion is None:
                machine.begin_iteration(path, function.node, run, 2, 0)
                between_calls(machine, path, function.node)
                results += machine.run_paths(path, effect)
            else:
                results.append(path)
    repeated.look_for_growth(machine, results)
    return results
