"""Functions that a program hands to what runs them.

    mp.spawn(fit, args=(net, 3), nprocs=2)         runs fit(0, net, 3), and fit(1, net, 3) in another process
    mp.Process(target=fit, args=(rank, net))       its `start()` runs fit(rank, net)
    class Worker(mp.Process): ...                  its `start()` runs `run()`

A process has memory of its own, and nobody knows when a thread runs: the program goes on as if there were none. Of
those that run one function, one is run.
"""

from __future__ import annotations

from ...domain.mro import mro_of, own_method
from ...domain.state import State
from ...domain.values import (
    BoundMethod,
    BuiltinMethod,
    Const,
    External,
    Function,
    HeapRef,
    Instance,
    Mapping,
    Tuple,
    Value,
)
from ...engine.lifecycle import PathEnded
from ...engine.machine import Machine
from ..torch.registry import Call, function
from .training_loops import method_of

PROCESS = "multiprocessing.Process"
PROCESSES = frozenset(External(name) for name in (PROCESS, "threading.Thread", f"torch.{PROCESS}"))


@function("multiprocessing.get_context", "torch.multiprocessing.get_context")
def get_context(machine: Machine, state: State, call: Call) -> Value:
    return External("multiprocessing")


@function("torch.multiprocessing.spawn", "torch.multiprocessing.start_processes")
def spawn(machine: Machine, state: State, call: Call) -> Value:
    _start(machine, state, call, call.get(0, "fn"), call.get(1, "args", Tuple(())), (Const(0),))
    return machine.call_unknown(state, call.args, call.kwargs, call.node, External(call.name))


@function(*(kind.name for kind in PROCESSES))
def process(machine: Machine, state: State, call: Call) -> Value:
    named = call.get(4, "kwargs")
    thing = state.heap[named.id] if isinstance(named, HeapRef) else None
    kwargs = {str(name): value for name, value in thing.items.items()} if isinstance(thing, Mapping) else {}
    _start(machine, state, call, call.get(1, "target"), call.get(3, "args", Tuple(())), (), kwargs)
    return machine.call_unknown(state, call.args, call.kwargs, call.node, External(call.name))


def _is_process(state: State, receiver: HeapRef) -> bool:
    """Whether the class of an object derives from a process."""
    thing = state.heap[receiver.id]
    return isinstance(thing, Instance) and not PROCESSES.isdisjoint(mro_of(state, thing.kind))


@method_of(_is_process, "start")
def start(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    _start(machine, state, call, own_method(state, receiver, "run"), Tuple(()))
    return machine.call_unknown(state, call.args, call.kwargs, call.node, BuiltinMethod(receiver, call.name))


def _start(
    machine: Machine,
    state: State,
    call: Call,
    target: Value | None,
    args: Value,
    first: tuple[Value, ...] = (),
    kwargs: dict[str, Value] | None = None,
) -> None:
    """Run ``target`` on paths of its own, unless that has run, or what it is given is not known."""
    code = target.function if isinstance(target, BoundMethod) else target
    given = args.items if isinstance(args, Tuple) else None
    if target is not None and given is not None and isinstance(code, Function) and code.node not in machine.unit.called:
        values, named = [*first, *given], kwargs or {}

        def run(path: State) -> None:
            machine.memoize(call.node, "target", lambda key: machine.call(path, target, values, named, call.node, key))

        ended = [path for path in machine.run_paths(state.fork(), run) if path.completion is None]
        for path in ended:
            machine.lifecycle.path_ended.publish(machine, PathEnded(path, None, ()))
        if not ended:  # as if nothing called it
            machine.unit.called.discard(code.node)
