"""The caller of what nobody calls: with which arguments it calls a function, how often, and what it does around it.

    class Trainer:
        def __init__(self, width=8): ...      an object is made, with inferred arguments
        def training_step(self, batch): ...   called twice on it, which is the loop its caller would write
        def compile(self, loss):
            def train_step(x, y): ...         what a call leaves behind for others to call runs, too
            self.train_step = train_step

Two calls do not tell what grows from what keeps the results of the last two: where something may have grown there is a
third. Of that one only growth is reported, and a graph that a call before it has freed: what is computed after the
backward of the first call is walked by the second, and again by the third.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial

from ..autograd import Node, Tensor, fresh_id
from ..autograd.events.broken_graph import GraphCopiedOut, RequiresGradRefused
from ..autograd.events.graph_walks import Event, FreedGraphReached, ViewDetached, ViewRefused
from ..autograd.model.graph_search import reachable
from ..because import NOTHING, Because, guess
from ..checks import growth, held_graphs
from ..domain.state import State
from ..domain.traversal import contents
from ..domain.values import (
    Frame,
    Function,
    HeapRef,
    Instance,
    Mapping,
    TensorRef,
    Tuple,
    Unknown,
    Value,
)
from ..engine.lifecycle import PathEnded
from ..engine.machine import Machine, OutOfFuel
from ..frozen import frozen
from ..models.frameworks.training_loops import Walk
from ..models.torch.autograd.grad_access import between_calls
from ..models.torch.autograd_function.apply import apply
from ..models.torch.optim.gradient_scaling import forget_stages
from ..models.torch.registry import Call
from ..semantics.functions import drained
from ..semantics.handed_closures import waiting
from . import framework_driver
from .arguments import inferred, positional
from .attribute_flow import ObjectFlow, object_flow
from .candidates import definition_of
from .framework_driver import call_as_nobody_does
from .object_state import prepare
from .parameter_uses import possible_tensors

TRAINED = guess("a caller goes backward through the result")


Refused = ViewDetached | ViewRefused | GraphCopiedOut | RequiresGradRefused
"""What PyTorch refuses to do with a tensor because of the graph or the memory that it is part of."""


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
        return definition_of(self.method).name


@frozen
class Caller:
    """Calls a ``function`` on ``receiver``, an object of ``owner`` or that class, with ``values`` by parameter; or
    ``applies`` the ``torch.autograd.Function`` ``owner`` whose ``forward`` it is. A framework may ``walk`` what it
    returns; of a ``forward`` that ``is_walked`` the one who trains does.
    """

    machine: Machine
    function: Function
    receiver: HeapRef | None
    owner: HeapRef | None
    values: dict[str, Value]
    walk: Walk | None = None
    is_walked: bool = False
    applies: bool = False

    @property
    def node(self) -> ast.FunctionDef | ast.AsyncFunctionDef:
        return definition_of(self.function)

    @property
    def name(self) -> str:
        return self.node.name

    # One call

    def result(self, state: State, key: object) -> Value:
        """What one call gives."""
        if self.applies:
            assert self.owner is not None
            return apply(
                self.machine,
                state,
                Call("torch.autograd.Function.apply", [self.owner, *self.values.values()], {}, self.node),
            )
        given = self.machine, state, self.function, self.receiver, self.values
        return call_as_nobody_does(*given, key, self.owner)

    def begin(self, state: State, run: int, number: int) -> None:
        """Begin a call as an iteration of the loop that its caller would write."""
        self.machine.begin_iteration(state, self.node, run, number, 0)

    def with_graphs(
        self, state: State, names: Iterable[str], requiring: Iterable[str]
    ) -> tuple[Caller, dict[Node, str]]:
        """The same with tensors for the parameters ``names``, which the caller has computed; those ``requiring`` have a
        graph of which nothing is known but that it can be walked once. It is told by its node.
        """
        values, nodes = dict(self.values), dict[Node, str]()
        for name in names:
            key, point = fresh_id(), state.point(self.node)
            is_graph = name in requiring
            graph = Node(key, name, (), point, saves_anything=True, results=(key,)) if is_graph else None
            state.tensors[key] = Tensor(key, key, key, point, is_graph, graph, kind="float")
            self.machine.facts.name(key, name)
            values[name] = TensorRef(key)
            if graph is not None:
                nodes[graph] = name
        return replace(self, values=values), nodes

    def roots(self, path: State) -> list[tuple[str, Value]]:
        """What outlives a call."""
        return held_graphs.roots_of(path, self.function, self.receiver)

    def flow(self, path: State) -> ObjectFlow:
        """What the methods do of the class of the object."""
        assert self.receiver is not None
        return object_flow(self.machine, path, path.get(self.receiver.id, Instance).kind)

    def called_between(self, path: State) -> Iterator[Between]:
        """Each method of the object that needs no arguments, or binds attributes, called on copies of a path on which a
        call has ended.
        """
        flow = self.flow(path)
        for name, method in flow.methods.items():
            is_called = needed(method) == 1 or any(part.assigned for part in flow.reached(name).values())
            if name != "__init__" and method.node is not self.node and is_called:
                heard, run = list[Event](), partial(self._call_between, method)
                with self.machine.facts.events.heard_by(heard.append):
                    ended = self.machine.run_paths(path.fork(), run)
                refused = tuple(event for event in heard if isinstance(event, Refused))
                yield Between(method, tuple(each for each in ended if each.completion is None), refused)

    def _call_between(self, method: Function, state: State) -> None:
        call_as_nobody_does(self.machine, state, method, self.receiver, {})

    # As often as its caller would

    def call_once(self, state: State) -> list[State]:
        """Call it as one who need not call it again. Where it leaves a graph behind it is called again on a copy, to
        see what grows.
        """
        twin, before = state.fork(), fresh_id()
        ended = self.machine.run_paths(state, self.call)
        held = (held_graphs.holds_younger(path, self.roots(path), before) for path in ended if path.completion is None)
        if any(held):
            run = self.machine.new_run()
            self.begin(twin, run, 0)
            self._look_for_growth([twin], run, False, [])
        return ended

    def call_again(self, state: State) -> list[State]:
        """A method that reaches backward is called once per step by code that trains: run it twice on the same object,
        which is the loop its caller would write. So is one after which the object, or what else outlives the call,
        holds a graph that the call has built.
        """
        machine, run, heard = self.machine, self.machine.new_run(), list[Event]()
        before = machine.unit.stats.backwards
        with machine.facts.events.heard_by(*machine.facts.events.listeners, heard.append):
            self.begin(state, run, 1)
            ended = machine.run_paths(state, self.call)
            walks = machine.unit.stats.backwards > before
            going = [path for path in ended if path.completion is None]
            if not walks and not any(held_graphs.keeps_graph(path, self.roots(path), run) for path in going):
                return ended
            results: list[State] = []
            for path in machine.join_and_cap(ended):
                if path.completion is None:
                    self.begin(path, run, 2)
                    between_calls(machine, path, self.node, self.receiver)
                    with machine.facts.events.assuming(self._left_to_callers(path)):
                        results += machine.run_paths(path, self._given_anew(path).call)
                else:
                    results.append(path)
        self._look_for_growth(results, run, walks, heard)
        return results

    def _given_anew(self, state: State) -> Caller:
        """The same with other tensors: what a call was given and has computed with, the next is not given again."""
        used = {
            name: value.another()
            for name, value in self.values.items()
            if isinstance(value, Unknown) and value.tensor_id in state.tensors
        }
        return replace(self, values=self.values | used) if used else self

    def _left_to_callers(self, state: State) -> Because:
        """What a second call supposes: whoever hands in an optimizer might clear with it in between."""
        handed = any(key in state.heap for key in self.machine.facts.networks.handed_optimizers)
        return guess(f"no caller of `{self.name}` clears gradients between two calls") if handed else NOTHING

    def call(self, state: State) -> None:
        """Call it, then do what its caller does with the result."""
        machine = self.machine
        forget_stages(machine, state, state.heap)
        result = machine.memoize(self.node, "drive", partial(self._step, state))
        if self.is_walked:
            roots = framework_driver.with_graph(state, result)
            framework_driver.imagine_backward(machine, state, roots, self.node, TRAINED)
        elif self.walk is not None and self.receiver is not None:
            framework_driver.batch_ends(machine, state, self.walk, self.receiver, result, self.node)
        around = state.get(state.get(self.function.frame, Frame).module, Frame).variables.values()
        receiver = () if self.receiver is None else (self.receiver,)
        reachable = [result, *receiver, *self.values.values(), *around]
        machine.lifecycle.path_ended.publish(machine, PathEnded(state, result, reachable))
        _run_left_behind(machine, state, [result, *receiver])

    def _step(self, state: State, key: object) -> Value:
        machine = self.machine
        if self.walk is not None and self.receiver is not None:
            if state.iterations[-1].number == 1:
                framework_driver.begin(machine, state, self.walk, self.receiver, self.node)
            framework_driver.batch_begins(machine, state, self.walk, self.receiver, self.node)
        elif self.receiver is not None:
            prepare(machine, state, self.receiver, self.function)
        made = machine.memoize(self.node, "made", partial(self.result, state))
        return drained(machine, state, made, machine.limits.unroll, key)

    def _look_for_growth(self, states: Sequence[State], run: int, walks: bool, heard: list[Event]) -> None:
        """Call it a last time on copies of the paths on which something may have grown, and publish what has; ``walks``
        if the program, or the framework that makes the calls, goes backward in them. Fuel that ends here is no loss to
        report: the calls before were whole. Where PyTorch raises, which would be ``heard``, nothing grows; if it is
        the first time, since a graph was freed before, that is published.
        """
        machine, enough = self.machine, self.machine.limits.repeated_calls
        stats, followed = replace(machine.unit.stats), len(machine.unit.unfollowed)
        try:
            for path in states:
                calls = path.iterations[-1].number
                if path.completion is not None or calls and not growth.growing(path, self.roots(path), run, calls):
                    continue
                is_first = walks and not any(event.raises for event in heard)
                with machine.facts.events.heard_by(heard.append):
                    ended = self._repeated(path, run, range(calls + 1, enough + 1))
                for event in heard if is_first else ():
                    if isinstance(event, FreedGraphReached):
                        machine.facts.events.publish(event)
                for last in ended:
                    if last.completion is None and not any(event.raises for event in heard):
                        grown = growth.growing(last, self.roots(last), run, enough)
                        led = cache(partial(self._led_by, path))
                        growth.publish(machine, last, grown, self.receiver, last.iterations[-1], walks, led)
        except OutOfFuel:
            return
        finally:
            machine.unit.stats = stats
            del machine.unit.unfollowed[followed:]

    def _led_by(self, path: State) -> dict[str, str]:
        """What grows where tensors that are given require grad: for the name of each holder the first parameter whose
        graphs it keeps.
        """
        names, run, found = dict[Node, str](), self.machine.new_run(), dict[str, str]()
        enough = self.machine.limits.repeated_calls
        with self.machine.facts.events.heard_by():
            ended = self._repeated(path, run, range(1, enough + 1), names)
        for last in ended:
            grown = growth.growing(last, self.roots(last), run, enough)
            refused = self._refused(last) if grown else frozenset()
            for holder in grown:
                below = set(reachable(last.grad_fns(holder.tensors)))
                given = [name for node, name in names.items() if node in below and node not in refused]
                if given:
                    found.setdefault(holder.name, given[0])
        return found

    def _repeated(
        self, path: State, run: int, numbers: Iterable[int], names: dict[Node, str] | None = None
    ) -> list[State]:
        """Call it on copies of a path as some iterations of a run; with tensors that require grad, of which ``names``
        then has the parameters, if that is given.
        """
        ended = [path.fork()]
        call = self.call if names is None else partial(self._call_with_graphs, names)
        for number in numbers:
            going, ended = [each for each in ended if each.completion is None], []
            for each in going:
                self.begin(each, run, number)
                ended += self.machine.join_and_cap(self.machine.run_paths(each, call))
        return ended

    def _call_with_graphs(self, names: dict[Node, str], state: State) -> None:
        """Call it with tensors that require grad for what is unknown and may be such: ``names`` has them by node."""
        possible = possible_tensors(self.machine, state, self.function, self.owner)
        open_ones = [name for name in possible if _is_open(self.values.get(name))]
        caller, nodes = self.with_graphs(state, open_ones, open_ones)
        names.update(nodes)
        caller.call(state)

    def _refused(self, path: State) -> frozenset[object]:
        """The graphs that a method of the object could not be called with, since it copies what it keeps of them out:
        `def value(self): return self.mean.numpy()`. Callers give the object none.
        """
        if self.receiver is None or not isinstance(path.heap.get(self.receiver.id), Instance):
            return frozenset()
        calls = self.called_between(path)
        refused = [event for call in calls for event in call.refused if isinstance(event, GraphCopiedOut)]
        return frozenset(reachable(event.recorded for event in refused if event.recorded is not None))


def _is_open(value: Value | None) -> bool:
    return isinstance(value, Unknown) and value.requires_grad is None


def needed(method: Function) -> int:
    """How many arguments a method must be given, the object included."""
    spec = method.node.args
    return len(spec.posonlyargs) + len(spec.args) - len(method.defaults)


def _run_left_behind(machine: Machine, state: State, values: Sequence[Value]) -> None:
    """Run the local functions that ``values`` lead to, that go backward and have not run yet; on paths of their own."""
    led = list(values)
    for value in values:
        if isinstance(value, HeapRef) and isinstance(thing := state.heap[value.id], (Instance, Mapping)):
            led += contents(thing, set())
        elif isinstance(value, Tuple):
            led += value.items
    for function in waiting(machine, state, led):
        path = state.fork()
        given = inferred(machine, path, function, positional(function, 0))
        machine.run_paths(path, partial(_call_left_behind, machine, function, given))


def _call_left_behind(machine: Machine, function: Function, given: dict[str, Value], path: State) -> None:
    if function.node not in machine.unit.called:
        call_as_nobody_does(machine, path, function, None, given)
