"""Local functions that a function without a caller leaves behind: kept as attributes, or returned. They run, too.

def compile(self, loss):
    def train_step(x, y): ...
    self.train_step = train_step        what others call
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from ..domain.state import State
from ..domain.values import Frame, Function, HeapRef, Instance, Mapping, Tuple, Value
from ..engine.machine import Machine
from ..engine.syntax.syntactic_summary import syntactic_summary
from ..semantics.calls import call_value
from .arguments import inferred


def run_left_behind(machine: Machine, state: State, values: Iterable[Value]) -> None:
    """Run the local functions that ``values`` lead to, that go backward and have not run yet; on paths of their own."""
    for function in list(_local_functions(state, values)):
        if function.node not in machine.unit.called and syntactic_summary(function.node).backward:
            spec = function.node.args
            path = state.fork()
            given = inferred(machine, path, function, [*spec.posonlyargs, *spec.args])
            machine.run_paths(path, partial(_run, machine, function, given))


def _run(machine: Machine, function: Function, given: dict[str, Value], path: State) -> None:
    call_value(machine, path, function, [], given, function.node)


def _local_functions(state: State, values: Iterable[Value]) -> Iterator[Function]:
    """The functions among values, and in the attributes and items of those, that are defined in another function."""
    for value in values:
        thing = state.heap.get(value.id) if isinstance(value, HeapRef) else None
        inner: Iterable[Value] = ()
        if isinstance(thing, Instance):
            inner = thing.attributes.values()
        elif isinstance(thing, Mapping):
            inner = thing.items.values()
        elif isinstance(value, Tuple):
            inner = value.items
        for each in (value, *inner):
            if isinstance(each, Function) and each.owner is None:
                if state.get(each.frame, Frame).module != each.frame:
                    yield each
