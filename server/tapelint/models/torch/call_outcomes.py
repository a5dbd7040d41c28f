"""A call that may end in several ways, with something left to do after each of them.

    functional_call(net, weights, (x,))    # however forward ends, the network has its own weights back afterwards

The first way out is gone on with, the others wait in the memo of the running statement (see ``machine``).
"""

from __future__ import annotations

from collections.abc import Callable

from ...domain.completion import ProgramRaised
from ...domain.state import State
from ...domain.values import Value
from ...engine.machine import Machine

After = Callable[[State, "Value | ProgramRaised"], Value]
"""What is done on a path with what the call returned, or raised, there; it raises where the path ends so."""


def for_each(machine: Machine, state: State, key: object, call: Callable[[], Value], after: After) -> Value:
    """Run ``call`` for the expression ``key``; ``after`` makes of each of its outcomes what the expression gives."""
    waiting = len(machine.memo.pending_paths)
    outcome: Value | ProgramRaised
    try:
        outcome = call()
    except ProgramRaised as error:
        outcome = error
    for index, (path, values) in enumerate(machine.memo.pending_paths[waiting:], waiting):
        assert isinstance(key, tuple)  # a fork is of an evaluation that the memo knows
        result = values[key]
        assert isinstance(result, (Value, ProgramRaised))
        machine.memo.pending_paths[index] = path, {**values, key: _ended(after, path, result)}
    ended = _ended(after, state, outcome)
    if isinstance(ended, ProgramRaised):
        raise ended
    return ended


def _ended(after: After, path: State, outcome: Value | ProgramRaised) -> Value | ProgramRaised:
    try:
        return after(path, outcome)
    except ProgramRaised as error:
        return error
