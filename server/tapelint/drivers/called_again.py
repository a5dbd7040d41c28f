"""``forward`` methods that nothing calls, called twice with a backward after each call, as a training loop would.

class Loss(nn.Module):
    def forward(self, scores):
        loss = (scores - self.last).pow(2).mean()
        self.last = scores                     the next call walks the graph of this one again
        return loss

Only what the first call leaves on the object, or ``__init__`` has, can make a difference, so others are not called
twice. What a method of the class takes away again is there on purpose: it is called in between.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ..autograd import Iteration, Node
from ..autograd.events.graph_walks import Event, FreedGraphReached
from ..autograd.model.graph_search import reachable
from ..checks.held_graphs import holders, roots_of
from ..domain.completion import ProgramRaised
from ..domain.mro import is_module, mro_of
from ..domain.state import State
from ..domain.values import BoundMethod, Class, External, Function, HeapRef, Instance, Value
from ..engine.machine import Machine
from ..ops.module_names import is_layer
from ..semantics.calls import call_value
from ..source import cached_on_node, walk
from . import framework_driver
from .latent_calls import ASSUMED, imagined_tensor
from .tensor_parameters import tensor_parameters

MAX_PATHS = 4
"""Ways through the first call after which there is a second one."""


@dataclass(slots=True)
class Again:
    """What is published while the second call and its backward run on a path."""

    names: dict[Node, str]
    found: list[FreedGraphReached] = field(default_factory=list)
    # The path that goes backward.
    path: State | None = None

    def hear(self, event: Event) -> None:
        """Take note of a graph that is walked again; not where the path supposes that a container holds something, for
        then the call may have been given the same as the first one.
        """
        if isinstance(event, FreedGraphReached) and self.path is not None:
            if not any(taken and _asks_for_member(key) for key, taken in self.path.path_condition.items()):
                self.found.append(event)


def _asks_for_member(formula: object) -> bool:
    return isinstance(formula, tuple) and (formula[:1] == ("In",) or any(map(_asks_for_member, formula)))


def may_carry(machine: Machine, state: State, kind: HeapRef, function: Function) -> bool:
    """Whether a ``forward`` may find on its object what an earlier call has left there, as far as the text shows."""
    if getattr(function.node, "name", "") != "forward" or not is_module(state, kind):
        return False
    stored, read = set[str](), set[str]()
    for owner in mro_of(state, kind):
        if isinstance(owner, HeapRef):
            for method in state.get(owner.id, Class).attributes.values():
                if isinstance(method, Function) and getattr(method.node, "name", "") != "__init__":
                    stores, reads = machine.query(_own_attributes, method.node)
                    stored |= stores
                    read |= reads
        elif not (isinstance(owner, External) and is_layer(owner.name)):
            return False
    return bool(stored & read)


@cached_on_node
def _own_attributes(method: ast.AST) -> tuple[frozenset[str], frozenset[str]]:
    """The attributes of ``self`` that a method binds or appends to, and those that it reads."""
    stores, reads = set[str](), set[str]()
    for node in walk(method):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            (reads if isinstance(node.ctx, ast.Load) else stores).add(node.attr)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            stores.update(part.attr for part in walk(node.value) if isinstance(part, ast.Attribute))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("append", "extend", "insert", "update", "appendleft"):
                stores.update(part.attr for part in walk(node.func.value) if isinstance(part, ast.Attribute))
    return frozenset(stores), frozenset(reads)


def imagine_again(
    machine: Machine, state: State, function: Function, receiver: HeapRef, values: dict[str, Value]
) -> None:
    """Call ``forward`` twice, with a backward after each call, and publish what is then walked again."""
    run, events = machine.new_run(), machine.facts.events
    listeners = tuple(events.listeners)
    ended, first = _called(machine, state, function, receiver, values, Iteration(function.node, run, 1))
    for path in [path for path in ended if path.completion is None][:MAX_PATHS]:
        if not any(holders(path, _own(path, function, receiver))):
            continue
        between = path.fork()
        _, second = _called(machine, path, function, receiver, values, Iteration(function.node, run, 2))
        names = {**first.names, **second.names}
        for event in second.found:
            if not _is_taken_away(machine, between, function, receiver, event):
                for listener in listeners:
                    listener(replace(event, assumption=_premise(event, names)))


def _called(
    machine: Machine,
    state: State,
    function: Function,
    receiver: HeapRef,
    values: dict[str, Value],
    lap: Iteration,
) -> tuple[list[State], Again]:
    """Call it with tensors that require grad, and go backward: the paths on which it ends, and what was published."""
    node, given, heard = function.node, dict(values), Again({})
    machine.begin_iteration(state, node, lap.run, lap.number, 0)
    for name in tensor_parameters(machine, state, function):
        if name in values:
            given[name], graph = imagined_tensor(machine, state, name, node, is_walked=True)
            heard.names[graph] = name
    bound = BoundMethod(function, receiver)

    def call(path: State) -> None:
        result = machine.memoize(node, "again", lambda key: call_value(machine, path, bound, [], given, node, key))
        heard.path = path
        framework_driver.imagine_backward(machine, path, framework_driver.with_graph(path, result), node, ASSUMED)

    events = machine.facts.events
    with events.heard_by(heard.hear), events.assuming(ASSUMED):
        return machine.run_paths(state, call), heard


def _premise(event: FreedGraphReached, names: dict[Node, str]) -> str:
    """What a finding needs of the caller."""
    wanted = dict.fromkeys(names[n] for n in reachable([event.node]) if isinstance(n, Node) and n in names)
    again = "`forward` is called again after a backward through its result"
    return f"`{next(iter(wanted))}` requires grad and {again}" if wanted else again


def _own(state: State, function: Function, receiver: HeapRef) -> list[tuple[str, Value]]:
    """The attributes of an object."""
    return [(name, value) for name, value in roots_of(state, function, receiver) if name.startswith("self.")]


def _is_taken_away(
    machine: Machine, between: State, function: Function, receiver: HeapRef, event: FreedGraphReached
) -> bool:
    """Whether a method of the class, called between the calls, lets go of the graph that is walked again: then that is
    its caller's business. So it is where other code assigns to what holds the graph.
    """
    held = [
        h
        for h in holders(between, _own(between, function, receiver))
        if event.shared in reachable(between.grad_fns(h.tensors))
    ]
    names = {holder.name.rpartition(".")[2] for holder in held}
    if not names <= machine.query(_own_attributes_of_file, machine.tree):
        return True
    methods = [*_other_methods(between, receiver, function)]
    beginning = [machine.query(_bound_attributes, method.node) for method in methods if _needed(method) > 1]
    if any(not names.isdisjoint(bound) for bound in beginning):
        return True  # it begins anew with what its caller gives it
    return any(
        _lets_go(machine, between.fork(), method, function, receiver, event)
        for method in methods
        if _needed(method) == 1
    )


@cached_on_node
def _bound_attributes(method: ast.AST) -> frozenset[str]:
    """The attributes of ``self`` that a method binds."""
    return frozenset(
        node.attr
        for node in walk(method)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )


def _needed(method: Function) -> int:
    """How many arguments a method must be given, the object included."""
    spec = method.node.args
    return len(spec.posonlyargs) + len(spec.args) - len(method.defaults)


@cached_on_node
def _own_attributes_of_file(tree: ast.AST) -> frozenset[str]:
    """The attributes that only methods assign to, by ``self``."""
    own, others = set[str](), set[str]()
    for node in walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            is_own = isinstance(node.value, ast.Name) and node.value.id == "self"
            (own if is_own else others).add(node.attr)
    return frozenset(own - others)


def _other_methods(state: State, receiver: HeapRef, function: Function) -> Iterator[Function]:
    """The methods of an object, but for ``function`` and ``__init__``."""
    for owner in mro_of(state, state.get(receiver.id, Instance).kind):
        if isinstance(owner, HeapRef):
            for method in state.get(owner.id, Class).attributes.values():
                if isinstance(method, Function) and not method.kind and method.node is not function.node:
                    if getattr(method.node, "name", "") != "__init__":
                        yield method


def _lets_go(
    machine: Machine, state: State, method: Function, function: Function, receiver: HeapRef, event: FreedGraphReached
) -> bool:
    """Whether the object no longer leads to the graph once ``method`` has run."""

    def run(path: State) -> None:
        call_value(machine, path, BoundMethod(method, receiver), [], {}, method.node)

    try:
        ended = machine.run_paths(state, run)
    except ProgramRaised:
        return False
    return any(
        not any(
            event.shared in reachable(path.grad_fns(h.tensors)) for h in holders(path, _own(path, function, receiver))
        )
        for path in ended
        if path.completion is None
    )
