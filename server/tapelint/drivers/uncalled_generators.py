"""Generator functions that nothing calls and that go backward themselves: they are asked for their first values."""

from __future__ import annotations

from ..domain.completion import Break
from ..domain.state import State
from ..domain.values import NONE, Generator, Sequence, Value
from ..engine.machine import Machine
from ..semantics.functions import choose, run_generator


def drained(machine: Machine, state: State, value: Value, key: object) -> Value:
    """What is left of the result of a call: a generator is asked for its first values."""
    if not isinstance(value, Generator) or value.function is None:
        return value
    count = state.new(Sequence("list", []))  # one item for each value, on the heap, so that every path has its own

    def consume(path: State, item: Value) -> list[State]:
        path.edit(count, Sequence).items.append(NONE)
        if len(path.get(count, Sequence).items) >= machine.limits.unroll:
            path.completion = Break()
        return [path]

    outcomes = run_generator(machine, state, value, consume)
    for path in outcomes:
        if isinstance(path.completion, Break):
            path.completion = None
    return choose(machine, state, outcomes, key)
