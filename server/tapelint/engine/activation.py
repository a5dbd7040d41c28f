"""Entering a function of the program, and leaving it.

    def main(): train(build())       push: a frame, one call deeper, the function's own grad mode
    main()                           pop: all that as it was, on every path on which the function ended

Mostly the machine does one right after the other (``semantics.functions``). Where the script continues inside a
function (``resume_point``), the function is left in another unit than the one that entered it, and each unit between
restores the machine to where it begins.
"""

from __future__ import annotations

import ast
from typing import Any

from ..because import guess
from ..domain.completion import Completion, Raise, Return
from ..domain.state import State
from ..domain.traversal import holds_generator
from ..domain.values import Frame, Function, Value
from .lifecycle import CallReturned
from .machine import Machine
from .resume_point import Activation
from .syntax.syntactic_summary import syntactic_summary


class SuspendedAtCall(Exception):
    """The function of the call at `RunContext.suspend_at` is ready to run. ``values`` is what the statement has
    evaluated so far (`EvalMemo.values`), ``key`` by what the memo is to know the result of the call.
    """

    def __init__(self, entry: Activation, values: dict[Any, Any], key: object) -> None:
        super().__init__(entry, values, key)
        self.entry, self.values, self.key = entry, values, key


def push(
    machine: Machine, state: State, function: Function, frame: int, given: tuple[Value, ...], node: ast.AST
) -> Activation:
    """Step into a function on a path."""
    outer = (state.frame, state.calls, state.grad_mode, state.inference, state.iterations)
    context, facts = machine.context, machine.facts
    consumers, because = context.consumers, facts.events.because
    entry = Activation(
        function, frame, given, node, outer, consumers, facts.running.casting, because, context.suspend_at
    )
    state.frame = frame
    state.calls = (*state.calls, node)
    if function.grad_mode is not None:
        state.enter(function.grad_mode, function.inference)
    if function.casting is not None:
        machine.facts.running.casting = function.casting
    restore(machine, entry)
    return entry


def restore(machine: Machine, entry: Activation) -> None:
    """The machine is inside a function."""
    context = machine.context
    context.depth += 1
    context.call_stack.append((entry.function.node, entry.given))
    context.consumers, context.suspend_at = [], None
    if entry.function.decorator:
        machine.facts.events.because = guess(f"`@{entry.function.decorator}` runs `{_name(entry)}` as it is written")


def unwind(machine: Machine, entry: Activation) -> None:
    """The machine is outside of it again."""
    context = machine.context
    context.depth -= 1
    context.call_stack.pop()
    context.consumers, context.suspend_at, machine.facts.running.casting = (
        entry.consumers,
        entry.entering,
        entry.casting,
    )
    machine.facts.events.because = entry.because


def _name(entry: Activation) -> str:
    return getattr(entry.function.node, "name", "it")


def pop(machine: Machine, entry: Activation, outcomes: list[State]) -> list[State]:
    """The paths on which a function has ended, back in the scope that called it."""
    function, outer = entry.function, entry.outer
    definition = function.node
    if any(type(out.completion) is not Raise for out in outcomes):
        machine.unit.completed_functions.add(definition)
    for out in outcomes:
        out.frame, out.calls = outer[0], outer[1]
        out.iterations = outer[4]
        machine.lifecycle.call_returned.publish(machine, CallReturned(out, entry.node, definition, entry.given))
        if function.grad_mode is not None:
            out.grad_mode, out.inference = outer[2], outer[3]
        if not _is_needed(definition, out.completion):
            _discard(out, entry.frame, syntactic_summary(definition).generates)
    return machine.join_and_cap(outcomes) if len(outcomes) > 1 else outcomes


def _is_needed(definition: ast.AST, completion: Completion | None) -> bool:
    """Whether the scope of a function that has ended may still be read: by closures, or by a generator that it returns.
    What a generator expression gives that a call has stored is unknown from then on (``semantics.functions``).
    """
    if syntactic_summary(definition).closes:
        return True
    return isinstance(completion, Return) and holds_generator(completion.value)


def _discard(state: State, frame: int, generates: bool) -> None:
    """Take a scope off the heap, with those of the generator expressions in it."""
    if state.heap.pop(frame, None) is None or not generates:
        return
    inner = []
    for key in reversed(state.heap):  # what is newer
        if 0 < key < frame:
            break
        thing = state.heap[key]
        if isinstance(thing, Frame) and thing.parent == frame:
            inner.append(key)
    for key in inner:
        del state.heap[key]
