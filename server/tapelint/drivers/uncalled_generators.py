"""Generator functions that nothing calls, run as a loop over them would.

    def losses(model: nn.Module, loader):
        h = torch.zeros(4)
        for x in loader:
            h = model(torch.cat((x, h)))
            yield h.sum()                  the caller goes backward here: the next one walks this graph again

One that goes backward itself is only asked for its values. Through a single number that any other yields, a loss, a
caller may go backward before it asks for the next: what is found so rests on that.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ..autograd import resolve_view
from ..autograd.events.graph_walks import Event, FreedGraphReached
from ..domain.completion import Break
from ..domain.state import State
from ..domain.values import NONE, BoundMethod, Function, Generator, HeapRef, Sequence, TensorRef, Value
from ..engine.machine import Machine
from ..semantics.calls import call_value
from ..semantics.functions import choose, run_generator
from ..source import Loop, cached_on_node, walk
from . import framework_driver
from .latent_calls import ASSUMED

Taken = Callable[[State, Value], None]


@dataclass(slots=True)
class Heard:
    """The graphs that are walked again."""

    found: list[FreedGraphReached] = field(default_factory=list)

    def hear(self, event: Event) -> None:
        if isinstance(event, FreedGraphReached):
            self.found.append(event)


def drained(machine: Machine, state: State, value: Value, key: object, taken: Taken | None = None) -> Value:
    """What is left of the result of a call: a generator is asked for its first values, and they are ``taken``."""
    if not isinstance(value, Generator) or value.function is None:
        return value
    count = state.new(Sequence("list", []))  # one item for each value, on the heap, so that every path has its own

    def consume(path: State, item: Value) -> list[State]:
        if taken is not None:
            taken(path, item)
        path.edit(count, Sequence).items.append(NONE)
        if len(path.get(count, Sequence).items) >= machine.limits.unroll:
            path.completion = Break()
        return [path]

    outcomes = run_generator(machine, state, value, consume)
    for path in outcomes:
        if isinstance(path.completion, Break):
            path.completion = None
    return choose(machine, state, outcomes, key)


@cached_on_node
def may_carry_on(function: ast.AST) -> bool:
    """Whether a generator yields in a loop something that it computes, so that what a caller does comes in between."""
    return any(
        isinstance(each, ast.Yield) and each.value is not None and not isinstance(each.value, ast.Constant)
        for loop in walk(function)
        if isinstance(loop, Loop)
        for each in walk(loop)
    )


def imagine_consumer(
    machine: Machine, state: State, function: Function, receiver: HeapRef | None, values: dict[str, Value]
) -> None:
    """Go backward through each single number that a generator yields, and publish what is then walked again."""
    node, heard = function.node, Heard()
    bound = function if receiver is None else BoundMethod(function, receiver)

    def take(path: State, item: Value) -> None:
        if isinstance(item, TensorRef) and resolve_view(path, item.id).rank == 0:
            framework_driver.imagine_backward(machine, path, framework_driver.with_graph(path, item), node, ASSUMED)

    def call(path: State) -> None:
        made = machine.memoize(node, "made", lambda key: call_value(machine, path, bound, [], dict(values), node, key))
        machine.memoize(node, "drained", lambda key: drained(machine, path, made, key, take))

    events = machine.facts.events
    with events.heard_by(heard.hear), events.assuming(ASSUMED):
        machine.run_paths(state.fork(), call)
    for event in heard.found:
        premise = f"a caller goes backward through each value of `{getattr(node, 'name', '')}`"
        events.publish(replace(event, assumption=premise))
