"""Calls of one function on the same object that are made to see what it collects.

    def update(self, x):
        self.total = self.total + self.net(x).mean()     call one keeps a graph; call three keeps those of all three

Two calls do not tell what grows from what keeps the last two. Nothing but growth is reported of a call that is made
for this: what the program does wrong, the calls before it have shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import cache, partial
from typing import TypeAlias

from ..autograd import Node, fresh_id
from ..autograd.events.broken_graph import GraphCopiedOut
from ..autograd.events.graph_walks import Event
from ..autograd.model.graph_search import reachable
from ..checks import growth, held_graphs
from ..domain.state import State
from ..domain.values import Function, HeapRef, Instance, Value
from ..engine.machine import Machine, OutOfFuel
from ..frozen import frozen
from .graph_caller import called_between

LedCall: TypeAlias = Callable[[Machine, dict[Node, str], State], None]
"""A call whose arguments require grad. It adds the parameter of each, by the node of the argument's graph."""


@frozen
class RepeatedCall:
    """Calls of ``function`` on ``receiver``: the iterations of ``run``. ``walks`` if the program goes backward in them,
    or the framework that makes them.
    """

    function: Function
    receiver: HeapRef | None
    run: int
    walks: bool
    effect: Callable[[State], None]
    led: LedCall
    # What has happened in them.
    heard: list[Event] = field(default_factory=list)

    def keeps_graph(self, states: Sequence[State]) -> bool:
        """Whether what outlives the calls holds, on any path, a graph that they have built."""
        return any(
            path.completion is None
            and held_graphs.keeps_graph(path, held_graphs.roots_of(path, self.function, self.receiver), self.run)
            for path in states
        )

    def look_for_growth(self, machine: Machine, states: Sequence[State]) -> None:
        """Call it a last time on copies of the paths on which something may have grown, and publish what has. Fuel
        that ends here is no loss to report: the calls before were whole.
        """
        stats, followed = replace(machine.unit.stats), len(machine.unit.unfollowed)
        try:
            self._call_again(machine, states)
        except OutOfFuel:
            return
        finally:
            machine.unit.stats = stats
            del machine.unit.unfollowed[followed:]

    def _call_again(self, machine: Machine, states: Sequence[State]) -> None:
        """Look for growth on each path. Where PyTorch raises, nothing grows."""
        for path in states:
            calls = path.iterations[-1].number
            if path.completion is not None or calls and not self._growing(path, calls):
                continue
            ended = [path.fork()]
            with machine.facts.events.heard_by(self.heard.append):
                for number in range(calls + 1, machine.limits.repeated_calls + 1):
                    ended = [
                        last for each in ended for last in self._again(machine, each, self.run, number, self.effect)
                    ]
            for last in ended:
                if last.completion is None and not any(event.raises for event in self.heard):
                    grown = self._growing(last, machine.limits.repeated_calls)
                    led = cache(partial(self._led_by, machine, path))
                    growth.publish(machine, last, grown, self.receiver, last.iterations[-1], self.walks, led)

    def _led_by(self, machine: Machine, path: State) -> dict[str, str]:
        """What grows where tensors that are given require grad: for the name of each holder the first parameter whose
        graphs it keeps.
        """
        names, run = dict[Node, str](), machine.new_run()
        effect, ended = partial(self.led, machine, names), [path.fork()]
        with machine.facts.events.heard_by():
            for number in range(1, machine.limits.repeated_calls + 1):
                ended = [last for each in ended for last in self._again(machine, each, run, number, effect)]
        found = dict[str, str]()
        for last in ended:
            grown = growth.growing(last, self._roots(last), run, machine.limits.repeated_calls)
            refused = self._refused(machine, last) if grown else frozenset()
            for holder in grown:
                below = set(reachable(last.grad_fns(holder.tensors)))
                given = [name for node, name in names.items() if node in below and node not in refused]
                if given:
                    found.setdefault(holder.name, given[0])
        return found

    def _refused(self, machine: Machine, path: State) -> frozenset[object]:
        """The graphs that a method of the object could not be called with, since it copies what it keeps of them out:
        `def value(self): return self.mean.numpy()`. Callers give the object none.
        """
        if self.receiver is None or not isinstance(path.heap.get(self.receiver.id), Instance):
            return frozenset()
        copied = [
            event.recorded
            for call in called_between(machine, path, self.function, self.receiver)
            for event in call.refused
            if isinstance(event, GraphCopiedOut) and event.recorded is not None
        ]
        return frozenset(reachable(copied))

    def _roots(self, path: State) -> list[tuple[str, Value]]:
        return held_graphs.roots_of(path, self.function, self.receiver)

    def _again(
        self, machine: Machine, path: State, run: int, number: int, effect: Callable[[State], None]
    ) -> list[State]:
        if path.completion is not None:
            return []
        machine.begin_iteration(path, self.function.node, run, number, 0)
        return machine.join_and_cap(machine.run_paths(path, effect))

    def _growing(self, path: State, calls: int) -> list[held_graphs.Holder]:
        return growth.growing(path, self._roots(path), self.run, calls)


def once(
    machine: Machine,
    state: State,
    function: Function,
    receiver: HeapRef | None,
    effect: Callable[[State], None],
    led: LedCall,
) -> list[State]:
    """Run a function that its caller need not call again. Where it leaves a graph behind it is called again on a copy,
    to see what grows.
    """
    twin, before = state.fork(), fresh_id()
    ended = machine.run_paths(state, effect)
    if any(
        path.completion is None
        and held_graphs.holds_younger(path, held_graphs.roots_of(path, function, receiver), before)
        for path in ended
    ):
        repeated = RepeatedCall(function, receiver, machine.new_run(), False, effect, led)
        machine.begin_iteration(twin, function.node, repeated.run, 0, 0)
        repeated.look_for_growth(machine, [twin])
    return ended
