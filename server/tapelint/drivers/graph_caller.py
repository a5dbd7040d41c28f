"""Functions without a caller, called once more as a caller might whose tensors are part of a graph.

    def inverse(term):
        result = term.reciprocal()     reciprocal saves its result
        result.clamp_(max=1e6)         so this spoils what a backward through it needs,
        return result                  if `term` requires grad

    class Loss(nn.Module):
        def forward(self, scores):
            loss = (scores - self.last).pow(2).mean()
            self.last = scores         the next call walks the graph of this one again
            return loss

The tensors that come in are taken for computed ones that require grad, and a backward is imagined through those that go
out: what is returned, and the arguments that were written. What may leave a graph on its object is called again after
that. The methods that need no arguments are tried in between: what one of them takes away is there to be taken away.
What is found names what it needs of the caller. Only what is certain under this assumption is listened to; all else was
looked at when the function ran by itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from ..autograd import Iteration, Node, Tensor, fresh_id, resolve_view
from ..autograd.events.broken_graph import GraphCopiedOut, RequiresGradRefused
from ..autograd.events.custom_function import FunctionEvent
from ..autograd.events.graph_walks import Event, FreedGraphReached, SavedTensorModified, ViewDetached, ViewRefused
from ..autograd.model.graph_search import reachable
from ..autograd.model.guesses import unseen_above
from ..because import guess
from ..checks.held_graphs import Holder, cuts, holders, roots_of
from ..domain.mro import OBJECT, is_function, is_module, mro_of
from ..domain.parameter_defaults import defaults_of
from ..domain.state import State
from ..domain.values import (
    Class,
    External,
    Frame,
    Function,
    HeapRef,
    Instance,
    TensorRef,
    Unknown,
    Value,
)
from ..engine.machine import Machine, OutOfFuel
from ..engine.syntax.own_attributes import own_attribute
from ..engine.syntax.syntactic_summary import syntactic_summary
from ..frozen import frozen
from ..models.torch.autograd_function.apply import apply
from ..models.torch.autograd_function.syntax import own_function
from ..models.torch.registry import Call
from ..ops.module_names import is_layer
from ..source import cached_on_node, is_none, walk
from . import framework_driver
from .arguments import inferred
from .attribute_flow import MethodFlow, ObjectFlow, method_flow, object_flow, returns_something
from .framework_driver import call_as_nobody_does
from .parameter_uses import tensor_parameters

ASSUMED = guess("a caller's tensors require grad")
"""What all rests on here, until it is known what is needed of it."""
AT_ONCE = (SavedTensorModified, ViewRefused, FunctionEvent)
"""What one call may show."""
Refused = ViewDetached | ViewRefused | GraphCopiedOut | RequiresGradRefused
"""What PyTorch refuses to do with a tensor because of the graph or the memory that it is part of."""

Found: TypeAlias = dict[ast.AST, tuple[Event, list[str]]]
"""By its place what one call shows, with the parameters that have a part in it."""


def imagined_tensor(
    machine: Machine, state: State, name: str, node: ast.AST, requires_grad: bool = True
) -> tuple[TensorRef, Node | None]:
    """A tensor that the caller has computed, and its node, which stands for a network that can be walked once; without
    one if it was computed of data.
    """
    key, point = fresh_id(), state.point(node)
    graph = Node(key, name, (), point, saves_anything=True, results=(key,)) if requires_grad else None
    state.tensors[key] = Tensor(key, key, key, point, requires_grad, graph, kind="float")
    machine.facts.name(key, name)
    return TensorRef(key), graph


@dataclass(slots=True)
class Outcome:
    """What came of a call and of the backward after it."""

    # The parameter that each tensor with a graph was given for, by its node.
    names: dict[Node, str] = field(default_factory=dict)
    # What was published.
    events: list[Event] = field(default_factory=list)
    # What the backward after it walked although a backward had walked it before.
    walked_again: list[FreedGraphReached] = field(default_factory=list)
    # The paths on which it has ended.
    ended: list[State] = field(default_factory=list)

    @property
    def at_once(self) -> Found:
        """What one call shows."""
        found: Found = {}
        for event in self.events:
            if isinstance(event, SavedTensorModified):
                if unseen_above(event.node, event.path[0]) is None:  # else unknown code has to keep a graph besides
                    found.setdefault(event.write.point.node, (event, self.below([event.path[-1]])))
            elif isinstance(event, AT_ONCE):
                found.setdefault(event.point.node, (event, [*self.names.values()]))
        return found

    def below(self, nodes: Iterable[Node]) -> list[str]:
        """The parameters that graphs lead to, in their order."""
        found = {*reachable(nodes)}
        return [name for node, name in self.names.items() if node in found]


@frozen
class Between:
    """A call of a method that needs no arguments, after another one."""

    method: Function
    # The paths on which it ends.
    ended: tuple[State, ...]
    # What PyTorch refuses in it.
    refused: tuple[Refused, ...]

    @property
    def name(self) -> str:
        return name_of(self.method)


def name_of(function: Function) -> str:
    return getattr(function.node, "name", "it")


def called_between(machine: Machine, state: State, function: Function, receiver: HeapRef) -> Iterator[Between]:
    """Each method without arguments called on copies of a path on which ``function`` has ended."""
    for name, method in object_flow(machine, state, _kind(state, receiver)).methods.items():
        if name != "__init__" and method.node is not function.node and _needed(method) == 1:
            yield _call_between(machine, state.fork(), method, receiver)


def _call_between(machine: Machine, state: State, method: Function, receiver: HeapRef) -> Between:
    heard = list[Event]()

    def run(path: State) -> None:
        call_as_nobody_does(machine, path, method, receiver, {})

    with machine.facts.events.heard_by(heard.append):
        ended = machine.run_paths(state, run)
    refused = tuple(event for event in heard if isinstance(event, Refused))
    return Between(method, tuple(path for path in ended if path.completion is None), refused)


def _needed(method: Function) -> int:
    """How many arguments a method must be given, the object included."""
    spec = method.node.args
    return len(spec.posonlyargs) + len(spec.args) - len(method.defaults)


def _kind(state: State, receiver: HeapRef) -> Value:
    return state.get(receiver.id, Instance).kind


@frozen
class GraphCaller:
    """Calls ``function`` on ``receiver`` with ``values`` by parameter, of which ``tensors`` are tensors; a
    ``torch.autograd.Function`` by its ``apply``, which gives ``forward`` the context.
    """

    machine: Machine
    function: Function
    receiver: HeapRef | None
    values: dict[str, Value]
    tensors: tuple[str, ...]
    applied: HeapRef | None = None

    def try_once(self, state: State, led: frozenset[str] | None = None) -> None:
        """Call it with tensors that require grad, of the parameters ``led`` (None: of any), and publish what is found
        with what it needs. Where several have a part in it, each is tried alone.
        """
        found = self._called(state.fork(), [name for name in self.tensors if led is None or name in led]).at_once
        alone = {name: self._called(state.fork(), [name]).at_once for name in self._to_be_tried(found)}
        for place, (event, names) in found.items():
            enough = [name for name in names if place in alone.get(name, ())]
            self._publish(event, enough or names, "or" if enough else "and")
        if self.applied is not None:
            self._publish_alone(found, alone)

    def _to_be_tried(self, found: Found) -> list[str]:
        """The parameters that are tried alone: of several that have a part in something, and of what may ask which of
        them require grad.
        """
        if self.applied is not None:
            return [*self.tensors] if len(self.tensors) > 1 else []
        return [*dict.fromkeys(name for _, names in found.values() if len(names) > 1 for name in names)]

    def _publish_alone(self, found: Found, alone: dict[str, Found]) -> None:
        """Publish what happens only where no other tensor requires grad."""
        deed = f"`{name_of(self.function)}` is given no other tensor that does"
        for name, only in alone.items():
            for event in (event for place, (event, _) in only.items() if place not in found):
                self._publish(event, [name], deed=deed)

    def _publish(self, event: Event, tensors: list[str], word: str = "or", deed: str = "") -> None:
        """Publish what needs that one of some ``tensors``, or all of them, require grad, and what the caller does."""
        quoted = [f"`{name}`" for name in tensors]
        listed = f"{', '.join(quoted[:-1])} {word} {quoted[-1]}" if len(quoted) > 1 else "".join(quoted)
        need = f"{listed} {'require' if len(quoted) > 1 and word == 'and' else 'requires'} grad" if listed else ""
        clause = " and ".join(filter(None, (need, deed)))
        because = guess(clause or f"a caller goes backward through what `{name_of(self.function)}` computes")
        self.machine.facts.events.publish(replace(event, because=because))

    def _called(self, state: State, requiring: Iterable[str], lap: Iteration | None = None) -> Outcome:
        """Call it, and go backward through what comes out: each tensor on a path of its own; in a ``lap`` of a loop of
        the caller all at once, on the path that goes on.
        """
        node, given, found = self.function.node, dict(self.values), Outcome()
        if lap is not None:
            self.machine.begin_iteration(state, node, lap.run, lap.number, 0)
        for name in self.tensors:
            given[name], graph = imagined_tensor(self.machine, state, name, node, name in requiring)
            if graph is not None:
                found.names[graph] = name

        def call(path: State) -> None:
            result = self.machine.memoize(node, "imagine", lambda key: self._result(path, given, key))
            if lap is not None:
                found.walked_again += self._walk_at_once(path, result)
                return
            tensors = [each.id for each in given.values() if isinstance(each, TensorRef)]
            written = [key for key in tensors if path.version(path.tensors[key].version_counter)]
            for root in dict.fromkeys([*framework_driver.with_graph(path, result), *written]):
                if resolve_view(path, root).requires_grad:
                    framework_driver.imagine_backward(self.machine, path.fork(), [root], node, ASSUMED)

        events = self.machine.facts.events
        with events.heard_by(found.events.append), events.assuming(ASSUMED):
            try:
                found.ended = self.machine.run_paths(state, call)
            except OutOfFuel:  # what was found before counts
                self.machine.unit.is_exhausted = True
        return found

    def _result(self, state: State, given: dict[str, Value], key: object) -> Value:
        node = self.function.node
        if self.applied is not None:
            arguments = [self.applied, *given.values()]
            return apply(self.machine, state, Call("torch.autograd.Function.apply", arguments, {}, node))
        return call_as_nobody_does(self.machine, state, self.function, self.receiver, given, key)

    def _walk_at_once(self, state: State, result: Value) -> list[FreedGraphReached]:
        """Go backward through a result; what is walked again. Nothing where the path supposes that a container holds
        something, for then the call may have been given the same as the one before.
        """
        heard, roots = list[Event](), self._walked(state, result)
        with self.machine.facts.events.heard_by(heard.append):
            framework_driver.imagine_backward(self.machine, state, roots, self.function.node, ASSUMED)
        if _asks_for_member(tuple(key for key, taken in state.path_condition.items() if taken)):
            return []
        return [event for event in heard if isinstance(event, FreedGraphReached)]

    def _walked(self, state: State, result: Value) -> list[int]:
        """The tensors of a result that a caller goes backward through: all of ``forward`` and of a property; otherwise
        a single number that does not only show what the object collects, as a running average does.
        """
        found = framework_driver.with_graph(state, result)
        if _is_forward(self.function) or self.function.kind == "property":
            return found
        if not isinstance(result, TensorRef) or resolve_view(state, result.id).rank != 0:
            return []
        held = {node for each in self._holders(state) for node in state.grad_fns(each.tensors)}
        ends = reachable(state.grad_fns(found), lambda node: node not in held)
        return found if any(not isinstance(item, Node) or not item.inputs for item in ends) else []

    def try_again(self, state: State) -> None:
        """Call it twice, with a backward after each call, and publish what is then walked again, and what the methods
        refuse that may be called in between.
        """
        assert self.receiver is not None
        run, node = self.machine.new_run(), self.function.node
        first = self._called(state, self.tensors, Iteration(node, run, 1))
        going = [path for path in first.ended if path.completion is None]
        for path in going[: self.machine.limits.repeated_paths]:
            if not (held := self._holders(path)):
                continue
            between = [*called_between(self.machine, path, self.function, self.receiver)]
            self._tell_refused(path, between, held, first)
            second, deed = self._called_again(path, run, between)
            names = Outcome({**first.names, **second.names})
            for event in second.walked_again:
                self._publish(event, names.below([event.node])[:1], deed=deed)

    def _called_again(self, path: State, run: int, between: Iterable[Between]) -> tuple[Outcome, str]:
        """The second call, and what the caller does: it calls all methods before it that detach some of what the first
        call has left, if its graph is taken away otherwise. What these leave out is walked again.
        """
        lap, verb = Iteration(self.function.node, run, 2), "read" if self.function.kind == "property" else "called"
        assert self.receiver is not None
        deed = f"`{name_of(self.function)}` is {verb} again after a backward through its result"
        found = self._called(path.fork(), self.tensors, lap)
        carried = [event for event in found.walked_again if not self._is_taken_away(path, event, between)]
        if carried or not found.walked_again:
            return replace(found, walked_again=carried), deed
        after, cutting = path, list[str]()
        for call in between:
            if self._is_for_callers(path, call) and self._is_cut(path, call):
                ended = _call_between(self.machine, after.fork(), call.method, self.receiver).ended
                after, cutting = ended[0] if ended else after, [*cutting, call.name]
        if not cutting or self._is_assigned_elsewhere(after, self._holders(after)):
            return Outcome(), deed
        named = " and ".join(f"`{name}`" for name in cutting)
        return self._called(after, self.tensors, lap), f"{deed} and a call of {named}"

    def _tell_refused(self, path: State, between: Iterable[Between], held: Iterable[Holder], first: Outcome) -> None:
        """Publish what methods refuse that read what holds a graph."""
        nodes = [node for each in held for node in path.grad_fns(each.tensors)]
        flow = self._flow(path)
        for call in between:
            read = {f"self.{name}" for part in flow.reached(call.name).values() for name in part.read}
            if self._is_for_callers(path, call) and any(each.name in read for each in held):
                deed = f"`{call.name}` is called after `{name_of(self.function)}`"
                for refused in call.refused:
                    wanted = [] if isinstance(refused, ViewDetached) else first.below(nodes)[:1]  # that of any view
                    self._publish(refused, wanted, deed=deed)

    def _is_for_callers(self, path: State, call: Between) -> bool:
        """Whether the code that calls the function may call a method as well: it is public, is no part of the function,
        and does not go backward.
        """
        flow = self._flow(path)
        summaries = (syntactic_summary(flow.methods[each].node) for each in flow.reached(call.name))
        is_part = call.name.startswith("_") or call.name in flow.reached(name_of(self.function))
        return not is_part and not any(summary.backward or summary.yields for summary in summaries)

    def _is_cut(self, path: State, call: Between) -> bool:
        """Whether a method detaches some of what the object held, and PyTorch refuses nothing in it."""
        own = self._own(path)
        return not call.refused and any(cuts(path, ended, own, self._own(ended)) for ended in call.ended)

    def _is_taken_away(self, path: State, event: FreedGraphReached, between: Iterable[Between]) -> bool:
        """Whether a method of the class, called between the calls, lets go of the graph that is walked again: then that
        is its caller's business. So it is where other code assigns to what holds the graph, or a method begins anew
        with what its caller gives it.
        """
        held = self._leading_to(path, event)
        if self._is_assigned_elsewhere(path, held) or self._is_begun_anew(path, held):
            return True
        ended = [each for call in between for each in call.ended]
        return any(call.refused for call in between) or not all(self._leading_to(each, event) for each in ended)

    def _is_begun_anew(self, path: State, held: Iterable[Holder]) -> bool:
        """Whether a method that is given something assigns to what holds a graph, or code that is not seen does."""
        names, flow = {each.name.rpartition(".")[2] for each in held}, self._flow(path)
        assigned = {*self.machine.query(method_flow, self.function.node).assigned}.union(
            *(each.assigned for each in flow.flows.values())
        )
        others = [name for name, method in flow.methods.items() if method.node is not self.function.node]
        beginning = [name for name in others if name != "__init__" and _needed(flow.methods[name]) > 1]
        return not names <= assigned or any(not names.isdisjoint(flow.flows[name].assigned) for name in beginning)

    def _leading_to(self, state: State, event: FreedGraphReached) -> list[Holder]:
        """The attributes that lead to the graph that is walked again."""
        return [each for each in self._holders(state) if event.shared in reachable(state.grad_fns(each.tensors))]

    def _is_assigned_elsewhere(self, state: State, held: Iterable[Holder]) -> bool:
        """Whether other code assigns to an attribute that holds a graph: in the file, or in one that has methods of the
        class.
        """
        names = {holder.name.rpartition(".")[2] for holder in held}
        modules = {state.get(method.frame, Frame).module for method in self._flow(state).methods.values()}
        loaded = (each.source.tree for each in self.machine.unit.loads if each.frame in modules)
        trees = (self.machine.tree, *loaded)
        return any(not names.isdisjoint(self.machine.query(_assigned_by_others, tree)) for tree in trees)

    def _flow(self, state: State) -> ObjectFlow:
        assert self.receiver is not None
        return object_flow(self.machine, state, _kind(state, self.receiver))

    def _own(self, state: State) -> list[tuple[str, Value]]:
        """The attributes of the object."""
        return [each for each in roots_of(state, self.function, self.receiver) if each[0].startswith("self.")]

    def _holders(self, state: State) -> list[Holder]:
        return [*holders(state, self._own(state))]


def _asks_for_member(formula: object) -> bool:
    return isinstance(formula, tuple) and (formula[:1] == ("In",) or any(map(_asks_for_member, formula)))


def _is_forward(function: Function) -> bool:
    return name_of(function) == "forward"


@cached_on_node
def _assigned_by_others(tree: ast.AST) -> frozenset[str]:
    """The attributes that a file assigns to, other than by ``self``."""
    stored = (node for node in walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    return frozenset(node.attr for node in stored if own_attribute(node) is None)


def may_carry(machine: Machine, state: State, kind: HeapRef, function: Function) -> bool:
    """Whether a method may leave on its object what later calls find there, as far as the text shows. One that trains
    by itself is called again anyway.
    """
    if function.kind == "property":  # a network is kept, and so is what it has computed once
        return is_module(state, kind) and _carries([machine.query(method_flow, function.node)])
    if function.kind or not all(map(_is_known, mro_of(state, kind))):
        return False
    flow, name = object_flow(machine, state, kind), name_of(function)
    reached = flow.reached(name)
    if name == "__init__" or any(each.backward for each in reached.values()):
        return False
    if _is_forward(function) and is_module(state, kind):
        return _carries([each for other, each in flow.flows.items() if other != "__init__"])
    return machine.query(returns_something, function.node) and _carries([*reached.values()])


def _is_known(owner: Value) -> bool:
    """Whether it is known what a class does: of libraries, the layers of PyTorch."""
    return owner == OBJECT or not isinstance(owner, External) or is_layer(owner.name)


def _carries(flows: list[MethodFlow]) -> bool:
    """Whether methods read attributes that they bind or fill."""
    stored, read = set[str](), set[str]()
    for each in flows:
        stored |= each.stored
        read |= each.read
    return not stored.isdisjoint(read)


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
        GraphCaller(machine, forward, None, given, tuple(names), kind).try_once(state)
    return [state]


@cached_on_node
def _gradients(backward: ast.AST) -> tuple[tuple[bool, ...], ...]:
    """For each ``return`` of a backward which of the values are gradients, not None."""
    returned = (node.value for node in walk(backward) if isinstance(node, ast.Return))
    parts = (value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value] for value in returned)
    return tuple(tuple(not is_none(part) for part in each if part is not None) for each in parts)
