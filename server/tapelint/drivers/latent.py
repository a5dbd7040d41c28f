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
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

from ..autograd import Node, resolve_view
from ..autograd.events.custom_function import FunctionEvent
from ..autograd.events.graph_walks import Event, FreedGraphReached, SavedTensorModified, ViewDetached, ViewRefused
from ..autograd.model.graph_search import reachable
from ..autograd.model.guesses import unseen_above
from ..because import guess
from ..checks.held_graphs import Holder, holders
from ..domain.state import State
from ..domain.values import Frame, TensorRef, Value
from ..engine.machine import Machine, OutOfFuel
from ..engine.syntax.syntactic_summary import syntactic_summary
from ..frozen import frozen
from ..models.torch.registry import model_of
from ..source import Loop, cached_on_node, own_attribute, own_nodes, walk
from . import framework_driver
from .attribute_flow import method_flow
from .caller import Between, Caller, needed

ASSUMED = guess("a caller's tensors require grad")
"""What all rests on here, until it is known what is needed of it."""
AT_ONCE = (SavedTensorModified, ViewRefused, FunctionEvent)
"""What one call may show."""

Lap: TypeAlias = tuple[int, int]
"""The run of a loop of the caller, and the number of the iteration."""
Found: TypeAlias = dict[ast.AST, tuple[Event, list[str]]]
"""By its place what one call shows, with the parameters that have a part in it."""


@dataclass(slots=True)
class Outcome:
    """What came of a call and of the backward after it."""

    # The parameter that each tensor with a graph was given for, by its node.
    names: dict[Node, str] = field(default_factory=dict)
    # What was published.
    events: list[Event] = field(default_factory=list)
    # The paths on which it has ended.
    ended: list[State] = field(default_factory=list)

    @property
    def at_once(self) -> Found:
        """What one call shows."""
        found: Found = {}
        doubted = {key for path in self.ended for key, each in path.tensors.items() if each.requires_grad is None}
        for event in self.events:
            if isinstance(event, SavedTensorModified):
                if unseen_above(event.node, event.path[0], doubted) is None:  # else unknown code has to keep a graph
                    found.setdefault(event.write.point.node, (event, self.below([event.path[-1]])))
            elif isinstance(event, AT_ONCE) and not _is_meant(event):
                found.setdefault(event.point.node, (event, [*self.names.values()]))
        return found

    @property
    def walked_again(self) -> list[FreedGraphReached]:
        """What the backward after it walked although a backward had walked it before."""
        return [event for event in self.events if isinstance(event, FreedGraphReached)]

    def below(self, nodes: Iterable[Node]) -> list[str]:
        """The parameters that graphs lead to, in their order."""
        found = {*reachable(nodes)}
        return [name for node, name in self.names.items() if node in found]


@frozen
class LatentSearch:
    """Looks for what a ``caller`` may meet whose tensors, the parameters ``tensors``, are part of a graph."""

    caller: Caller
    tensors: tuple[str, ...]

    @property
    def machine(self) -> Machine:
        return self.caller.machine

    @property
    def name(self) -> str:
        return self.caller.name

    def try_once(self, state: State, led: frozenset[str] | None = None) -> None:
        """Call it with tensors that require grad, of the parameters ``led`` (None: of any), and publish what is found
        with what it needs. Where several have a part in it, each is tried alone.
        """
        if led is not None and not led:
            return  # the calls that are known give it no graph
        found = self._called(state.fork(), [name for name in self.tensors if led is None or name in led]).at_once
        alone = {name: self._called(state.fork(), [name]).at_once for name in self._to_be_tried(found)}
        for place, (event, names) in found.items():
            enough = [name for name in names if place in alone.get(name, ())]
            self._publish(event, enough or names, "or" if enough else "and")
        if self.caller.applies:
            self._publish_alone(found, alone)

    def _to_be_tried(self, found: Found) -> list[str]:
        """The parameters that are tried alone: of several that have a part in something, and of what may ask which of
        them require grad.
        """
        if self.caller.applies:
            return [*self.tensors] if len(self.tensors) > 1 else []
        return [*dict.fromkeys(name for _, names in found.values() if len(names) > 1 for name in names)]

    def _publish_alone(self, found: Found, alone: dict[str, Found]) -> None:
        """Publish what happens only where no other tensor requires grad."""
        deed = f"`{self.name}` is given no other tensor that does"
        for name, only in alone.items():
            for event in (event for place, (event, _) in only.items() if place not in found):
                self._publish(event, [name], deed=deed)

    def _publish(self, event: Event, tensors: list[str], word: str = "or", deed: str = "") -> None:
        """Publish what needs that one of some ``tensors``, or all of them, require grad, and what the caller does."""
        quoted = [f"`{name}`" for name in tensors]
        listed = f"{', '.join(quoted[:-1])} {word} {quoted[-1]}" if len(quoted) > 1 else "".join(quoted)
        need = f"{listed} {'require' if len(quoted) > 1 and word == 'and' else 'requires'} grad" if listed else ""
        clause = " and ".join(filter(None, (need, deed)))
        self.machine.unit.shows_own_graph |= not tensors
        because = guess(clause or f"a caller goes backward through what `{self.name}` computes")
        self.machine.facts.events.publish(replace(event, because=because))

    def _called(self, state: State, requiring: Iterable[str], lap: Lap | None = None) -> Outcome:
        """Call it, and go backward through what comes out: each tensor on a path of its own; in a ``lap`` of a loop of
        the caller all at once, on the path that goes on.
        """
        node, found = self.caller.node, Outcome()
        if lap is not None:
            self.caller.begin(state, *lap)
        caller, found.names = self.caller.with_graphs(state, self.tensors, requiring)

        def call(path: State) -> None:
            result = self.machine.memoize(node, "imagine", partial(caller.result, path))
            if lap is not None:
                framework_driver.imagine_backward(self.machine, path, self._walked(path, result), node, ASSUMED)
                return
            data = self.machine.query(detached_parameters, node)
            given = (each for name, each in caller.values.items() if name not in data)
            tensors = [each.id for each in given if isinstance(each, TensorRef)]
            written = [key for key in tensors if path.version(path.tensors[key].version_counter)]
            # A function object that changes what it is given is a transform of data: no caller walks that again.
            changed = written if self.name == "__call__" else ()
            for root in dict.fromkeys([*framework_driver.with_graph(path, result), *written]):
                if root not in changed and resolve_view(path, root).requires_grad:
                    framework_driver.imagine_backward(self.machine, path.fork(), [root], node, ASSUMED)

        events = self.machine.facts.events
        with events.heard_by(found.events.append), events.assuming(ASSUMED):
            try:
                found.ended = self.machine.run_paths(state, call)
            except OutOfFuel:  # what was found before counts
                self.machine.unit.is_exhausted = True
        return found

    def _walked(self, state: State, result: Value) -> list[int]:
        """The tensors of a result that a caller goes backward through: all of ``forward`` and of a property; otherwise
        a single number that does not only show what the object collects, as a running average does.
        """
        found = framework_driver.with_graph(state, result)
        if self.name == "forward" or self.caller.function.kind == "property":
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
        run = self.machine.new_run()
        first = self._called(state, self.tensors, (run, 1))
        verb = "read" if self.caller.function.kind == "property" else "called"
        deed = f"`{self.name}` is {verb} again after a backward through its result"
        going = [path for path in first.ended if path.completion is None]
        for path in going[: self.machine.limits.repeated_paths]:
            if not (held := self._holders(path)):
                continue
            between = [*self.caller.called_between(path)]
            self._tell_refused(path, between, held, first)
            second = self._called(path.fork(), self.tensors, (run, 2))
            names = Outcome({**first.names, **second.names})
            for event in second.walked_again:
                given = names.below([event.node])[:1]
                is_cached = bool(given) and self._is_cached(path, event, second.ended)
                if not is_cached and not self._is_taken_away(path, event, between):
                    self._publish(event, given, deed=deed)

    def _is_cached(self, path: State, event: FreedGraphReached, ended: Iterable[State]) -> bool:
        """Whether the next call leaves all alone that holds the graph: it keeps what it has made of arguments once. So
        they are the same for all calls, which learned ones are not.
        """
        held = self._leading_to(path, event)
        return all(each in self._holders(state) for state in ended for each in held)

    def _tell_refused(self, path: State, between: Iterable[Between], held: Iterable[Holder], first: Outcome) -> None:
        """Publish what methods refuse that read what holds a graph."""
        nodes = [node for each in held for node in path.grad_fns(each.tensors)]
        flow = self.caller.flow(path)
        for call in between:
            read = {f"self.{name}" for part in flow.reached(call.name).values() for name in part.read}
            if self._is_for_callers(path, call) and any(each.name in read for each in held):
                deed = f"`{call.name}` is called after `{self.name}`"
                for refused in call.refused:
                    wanted = [] if isinstance(refused, ViewDetached) else first.below(nodes)[:1]  # that of any view
                    self._publish(refused, wanted, deed=deed)

    def _is_for_callers(self, path: State, call: Between) -> bool:
        """Whether the code that calls the function may call a method as well: it is public, is no part of the function,
        and does not go backward.
        """
        flow = self.caller.flow(path)
        summaries = (syntactic_summary(flow.methods[each].node) for each in flow.reached(call.name))
        is_part = call.name.startswith("_") or call.name in flow.reached(self.name)
        return not is_part and not any(summary.backward or summary.yields for summary in summaries)

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
        names, flow = {each.name.rpartition(".")[2] for each in held}, self.caller.flow(path)
        assigned = {*self.machine.query(method_flow, self.caller.node).assigned}.union(
            *(each.assigned for each in flow.flows.values())
        )
        others = [name for name, method in flow.methods.items() if method.node is not self.caller.node]
        beginning = [name for name in others if name != "__init__" and needed(flow.methods[name]) > 1]
        return not names <= assigned or any(not names.isdisjoint(flow.flows[name].assigned) for name in beginning)

    def _leading_to(self, state: State, event: FreedGraphReached) -> list[Holder]:
        """The attributes that lead to the graph that is walked again."""
        return [each for each in self._holders(state) if event.shared in reachable(state.grad_fns(each.tensors))]

    def _is_assigned_elsewhere(self, state: State, held: Iterable[Holder]) -> bool:
        """Whether other code assigns to an attribute that holds a graph: in the file, or in one that has methods of the
        class.
        """
        names = {holder.name.rpartition(".")[2] for holder in held}
        modules = {state.get(method.frame, Frame).module for method in self.caller.flow(state).methods.values()}
        loaded = (each.source.tree for each in self.machine.unit.loads if each.frame in modules)
        trees = (self.machine.tree, *loaded)
        return any(not names.isdisjoint(self.machine.query(_assigned_by_others, tree)) for tree in trees)

    def _holders(self, state: State) -> list[Holder]:
        """The attributes of the object that hold a graph."""
        own = [each for each in self.caller.roots(state) if each[0].startswith("self.")]
        return [*holders(state, own)]


@cached_on_node
def _assigned_by_others(tree: ast.AST) -> frozenset[str]:
    """The attributes that a file assigns to, other than by ``self``."""
    stored = (node for node in walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    return frozenset(node.attr for node in stored if own_attribute(node) is None)


def _is_meant(event: Event) -> bool:
    """Whether a tensor is written a row at a time, which is done to data: ``for t in picture: t.mul_(scale)``."""
    return isinstance(event, ViewRefused) and isinstance(event.made.node, Loop)


def initialized(function: ast.AST) -> Set[str]:
    """The names of what a function initializes before it uses it (``weight.normal_(0, 1)``): that is in no graph."""
    names = [node for node in own_nodes(function) if isinstance(node, ast.Name)]
    first = {node.id: node for node in sorted(names, key=lambda node: (node.lineno, node.col_offset), reverse=True)}
    begun = (name for name, method in _methods_of_names(function) if model_of(f"torch.nn.init.{method}"))
    return {name.id for name in begun if first[name.id] is name}


def detached_parameters(function: ast.AST) -> Set[str]:
    """The names that a function detaches: it is none of its business whether they have a graph."""
    return {name.id for name, method in _methods_of_names(function) if method == "detach"}


def _methods_of_names(function: ast.AST) -> Iterator[tuple[ast.Name, str]]:
    """The methods that a function calls of what it has a name for: ``x.detach()``."""
    for node in own_nodes(function):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
            yield called.value, called.attr
