"""Methods that nothing calls, called twice with a backward after each call, as a training loop would.

class Loss(nn.Module):
    def forward(self, scores):
        loss = (scores - self.last).pow(2).mean()
        self.last = scores                     the next call walks the graph of this one again
        return loss

These are ``forward``, and the methods that return a single number: a loss, as far as the caller goes backward through
it. Only what the first call leaves on the object, or ``__init__`` has, can make a difference, so others are not called
twice. What a method of the class takes away again is there on purpose: it is called in between.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field, replace

from ..autograd import Iteration, Node, resolve_view
from ..autograd.events.graph_walks import Event, FreedGraphReached, ViewDetached
from ..autograd.model.graph_search import reachable
from ..because import Because, guess
from ..checks.held_graphs import Holder, cuts, holders, roots_of
from ..domain.mro import OBJECT, is_module, mro_of
from ..domain.state import State
from ..domain.values import BoundMethod, External, Frame, Function, HeapRef, Instance, TensorRef, Value
from ..engine.machine import Machine
from ..ops.module_names import is_layer
from ..semantics.calls import call_value
from ..source import cached_on_node, walk
from . import framework_driver
from .attribute_flow import MethodFlow, ObjectFlow, method_flow, object_flow, returns_something
from .called_between import Between, Refused, called_between, is_for_callers, needed
from .inherited_templates import call_site
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
    """Whether a method may leave on its object what later calls find there, as far as the text shows."""
    if function.kind == "property":  # a network is kept, and so is what it has computed once
        return is_module(state, kind) and _carries([machine.query(method_flow, function.node)])
    if function.kind or _is_foreign(state, kind):
        return False
    flow, name = object_flow(machine, state, kind), _name(function)
    reached = flow.reached(name)
    if any(each.backward for each in reached.values()):
        return False  # it trains by itself
    if _is_forward(function) and is_module(state, kind):
        return _carries(each for other, each in flow.flows.items() if other != "__init__")
    return machine.query(returns_something, function.node) and name != "__init__" and _carries(reached.values())


def _is_foreign(state: State, kind: HeapRef) -> bool:
    """Whether a class is derived from one of a library that is no layer."""
    owners = [owner for owner in mro_of(state, kind) if owner != OBJECT]
    return any(isinstance(owner, External) and not is_layer(owner.name) for owner in owners)


def _name(function: Function) -> str:
    return getattr(function.node, "name", "")


def _is_forward(function: Function) -> bool:
    return _name(function) == "forward"


def _carries(flows: Iterable[MethodFlow]) -> bool:
    """Whether methods read attributes that they bind or fill."""
    stored, read = set[str](), set[str]()
    for each in flows:
        stored |= each.stored
        read |= each.read
    return not stored.isdisjoint(read)


def imagine_again(
    machine: Machine, state: State, function: Function, receiver: HeapRef, values: dict[str, Value]
) -> None:
    """Call a method twice, with a backward after each call, and publish what is then walked again, and what the
    methods refuse that may be called in between.
    """
    run, events = machine.new_run(), machine.facts.events
    flow = object_flow(machine, state, state.get(receiver.id, Instance).kind)
    ended, first = _called(machine, state, function, receiver, values, Iteration(function.node, run, 1))
    for path in [path for path in ended if path.completion is None][:MAX_PATHS]:
        held = [*holders(path, _own(path, function, receiver))]
        if not held:
            continue
        after = [*called_between(machine, path, flow, function, receiver)]
        for call in after:
            if is_for_callers(flow, call.name, function) and any(_reads(flow, call.name, each) for each in held):
                for refused in call.refused:
                    because = _reason_between(path, function, call, refused, held, first)
                    events.publish(replace(refused, because=because))
        before = path.fork()
        _, second = _called(machine, path, function, receiver, values, Iteration(function.node, run, 2))
        names = {**first.names, **second.names}
        carried = [e for e in second.found if not _is_taken_away(machine, before, flow, function, receiver, e, after)]
        for event in carried:
            events.publish(replace(event, because=_reason(event, function, names)))
        if second.found and not carried:
            _after_cuts(machine, before, flow, function, receiver, values, after, first, run)


def _after_cuts(
    machine: Machine,
    before: State,
    flow: ObjectFlow,
    function: Function,
    receiver: HeapRef,
    values: dict[str, Value],
    after: Iterable[Between],
    first: Again,
    run: int,
) -> None:
    """A method that detaches some of what the first call has left is there to be called between two calls: what it
    leaves out is walked again.
    """
    for name, path in _cutting(machine, before, flow, function, receiver, after):
        _, second = _called(machine, path, function, receiver, values, Iteration(function.node, run, 2))
        for event in second.found:
            premise = f"`{_name(function)}` is called again after a backward through its result and a call of `{name}`"
            because = _with_grad(premise, [event.node], {**first.names, **second.names})
            machine.facts.events.publish(replace(event, because=because))


def _cutting(
    machine: Machine, before: State, flow: ObjectFlow, function: Function, receiver: HeapRef, after: Iterable[Between]
) -> list[tuple[str, State]]:
    """The methods that detach some of what the object held ``before``, and the paths on which they end; none if
    together they detach all of it, or other code assigns what they leave out.
    """
    own, found, left = _own(before, function, receiver), list[tuple[str, State]](), list[set[int]]()
    for call in after:
        for path in call.ended if is_for_callers(flow, call.name, function) and not call.refused else ():
            now = _own(path, function, receiver)
            if cuts(before, path, own, now) and not _is_assigned_elsewhere(machine, path, flow, holders(path, now)):
                found.append((call.name, path))
                left.append({path.tensors[key].storage for each in holders(path, now) for key in each.tensors})
    return found if left and set.intersection(*left) else []


def _is_assigned_elsewhere(machine: Machine, state: State, flow: ObjectFlow, held: Iterable[Holder]) -> bool:
    """Whether other code of these files assigns to an attribute that holds a graph."""
    names = {holder.name.rpartition(".")[2] for holder in held}
    return any(not names.isdisjoint(machine.query(_assigned_by_others, tree)) for tree in _files(machine, state, flow))


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
    kind = state.get(receiver.id, Instance).kind
    for name in tensor_parameters(machine, state, function, kind):
        if name in values:
            given[name], graph = imagined_tensor(machine, state, name, node, is_walked=True)
            heard.names[graph] = name
    bound = BoundMethod(function, receiver)
    site = call_site(state, machine.module, function, kind)

    def call(path: State) -> None:
        result = machine.memoize(node, "again", lambda key: call_value(machine, path, bound, [], given, site, key))
        heard.path = path
        framework_driver.imagine_backward(machine, path, _walked(path, function, receiver, result), node, ASSUMED)

    events = machine.facts.events
    with events.heard_by(heard.hear), events.assuming(ASSUMED):
        return machine.run_paths(state, call), heard


def _walked(state: State, function: Function, receiver: HeapRef, result: Value) -> list[int]:
    """The tensors of a result that a caller goes backward through: all of ``forward`` and of a property; otherwise a
    single number that does not only show what the object collects, as a running average does.
    """
    found = framework_driver.with_graph(state, result)
    if _is_forward(function) or function.kind == "property":
        return found
    if not isinstance(result, TensorRef) or resolve_view(state, result.id).rank != 0:
        return []
    held = {node for each in holders(state, _own(state, function, receiver)) for node in state.grad_fns(each.tensors)}
    return found if _leads_around(state.grad_fns(found), held) else []


def _leads_around(roots: Iterable[Node], held: Set[Node]) -> bool:
    """Whether a gradient reaches the end of the graph without going through the nodes that are ``held``."""
    seen, todo = set(held), [*roots]
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            if not all(isinstance(item, Node) for item in node.inputs) or not node.inputs:
                return True
            todo += [item for item in node.inputs if isinstance(item, Node)]
    return False


def _reason(event: FreedGraphReached, function: Function, names: dict[Node, str]) -> Because:
    """What a finding needs of the caller."""
    verb = "read" if function.kind == "property" else "called"
    again = f"`{_name(function)}` is {verb} again after a backward through its result"
    return _with_grad(again, [event.node], names)


def _reason_between(
    state: State, function: Function, call: Between, refused: Refused, held: Iterable[Holder], first: Again
) -> Because:
    """What it needs that a method refuses what the call before has left."""
    later = f"`{call.name}` is called after `{_name(function)}`"
    if isinstance(refused, ViewDetached):
        return guess(later)  # of any view
    return _with_grad(later, [node for each in held for node in state.grad_fns(each.tensors)], first.names)


def _with_grad(premise: str, nodes: Iterable[Node], names: dict[Node, str]) -> Because:
    """A premise, with the argument that has to require grad so that there are such nodes."""
    wanted = dict.fromkeys(names[n] for n in reachable(nodes) if isinstance(n, Node) and n in names)
    return guess(f"`{next(iter(wanted))}` requires grad and {premise}" if wanted else premise)


def _reads(flow: ObjectFlow, name: str, holder: Holder) -> bool:
    """Whether a method reads the attribute that holds a graph."""
    return any(holder.name == f"self.{each}" for part in flow.reached(name).values() for each in part.read)


def _own(state: State, function: Function, receiver: HeapRef) -> list[tuple[str, Value]]:
    """The attributes of an object."""
    return [(name, value) for name, value in roots_of(state, function, receiver) if name.startswith("self.")]


def _is_taken_away(
    machine: Machine,
    before: State,
    flow: ObjectFlow,
    function: Function,
    receiver: HeapRef,
    event: FreedGraphReached,
    after: Iterable[Between],
) -> bool:
    """Whether a method of the class, called between the calls, lets go of the graph that is walked again: then that is
    its caller's business. So it is where other code assigns to what holds the graph.
    """

    def keeps(path: State) -> bool:
        return any(_holding(path, function, receiver, event))

    held = [*_holding(before, function, receiver, event)]
    names = {holder.name.rpartition(".")[2] for holder in held}
    if _is_assigned_elsewhere(machine, before, flow, held):
        return True
    assigned = set[str]().union(*(each.assigned for each in flow.flows.values()))
    if not names <= assigned | machine.query(method_flow, function.node).assigned.keys():
        return True
    for name, method in flow.methods.items():
        if name != "__init__" and method.node is not function.node and needed(method) > 1:
            if not names.isdisjoint(flow.flows[name].assigned):
                return True  # it begins anew with what its caller gives it
    return any(call.refused or not all(map(keeps, call.ended)) for call in after)


def _files(machine: Machine, state: State, flow: ObjectFlow) -> list[ast.AST]:
    """The file, and the imported ones that methods of a class stand in."""
    modules = {state.get(method.frame, Frame).module for method in flow.methods.values()}
    return [machine.tree, *(loaded.source.tree for loaded in machine.unit.loads if loaded.frame in modules)]


def _holding(state: State, function: Function, receiver: HeapRef, event: FreedGraphReached) -> Iterator[Holder]:
    """The attributes of an object that lead to the graph that is walked again."""
    for holder in holders(state, _own(state, function, receiver)):
        if event.shared in reachable(state.grad_fns(holder.tensors)):
            yield holder


@cached_on_node
def _assigned_by_others(tree: ast.AST) -> frozenset[str]:
    """The attributes that a file assigns to, other than by ``self``."""
    return frozenset(
        node.attr
        for node in walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and not (isinstance(node.value, ast.Name) and node.value.id == "self")
    )
