"""Thresholds: bounds that a growing number or container is compared with.

    memory.append(transition)
    self.steps += 1
    if len(memory) < 64 or self.steps < 1000:     # not yet, in all iterations that are followed
        return

A number that is compared with one it has not reached, and that has grown since it was compared there before, is
assumed to reach it. Where that is near, the loop runs as many iterations more. Where it is far, two iterations stand
for what is so much later: in these the number is there. How often methods without a caller were called is not known,
nor then what they have counted.

    self.steps += 1
    if self.steps % 100 == 0:       # what is counted comes by: in one late iteration it is there, and again after the
                                    # next, where it is the only number to come by
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from ...autograd import Iteration
from ...bounds import BOUNDS
from ...domain.induction import InductionValue, raw_value
from ...domain.mro import mro_of
from ...domain.reachability import parts_of
from ...domain.state import State
from ...domain.values import Class, Const, Frame, HeapRef, Unknown, Value
from ...frozen import frozen
from ...source import cached_on_node, walk
from ..limits import Limits
from ..machine import Machine

COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


@frozen
class _Passing:
    """What the program counts, at a comparison with a number that it meets and passes."""

    # The iteration in which it was compared, and what it was then.
    lap: int
    number: int
    # That number.
    other: int
    # Whether it has come nearer since an iteration before.
    nears: bool = False
    # Whether it was there since.
    is_met: bool = False


@dataclass(slots=True)
class LoopExtension:
    """One run of a loop that compares growing numbers with thresholds."""

    # How many iterations it takes to reach all of them.
    iterations: int = 0
    # The first of the iterations that stand for all beyond `Limits.max_unroll`; 0 where it is in none of them.
    late: int = 0
    # The number that each comparison saw first.
    first: dict[ast.AST, int] = field(default_factory=dict)
    # The first late iteration in which a number was assumed to have grown far enough: where it is set back then, and is
    # the only one, it is there in the next again.
    reached_in: int = 0
    # What each comparison with a number that is met and passed saw last, before it was met.
    passing: dict[ast.AST, _Passing] = field(default_factory=dict)
    # The late iteration in which a number is met, that number, and what was counted then: of several only one can be.
    met: tuple[int, int, int] | None = None

    def copy(self) -> LoopExtension:
        """The same run, to go on with."""
        return replace(self, first=self.first.copy(), passing=self.passing.copy())

    def more(self, number: int, limits: Limits) -> int:
        """How many iterations are to follow the one of that number, which was to be the last."""
        if self.iterations <= limits.max_unroll:
            return max(self.iterations - number, 0)
        if self.late:
            return 0
        self.late = number + 1
        return BOUNDS.late_iterations + any(each.nears for each in self.passing.values())


def assume_reached(
    machine: Machine, state: State, op: ast.cmpop, left: Value, right: Value, node: ast.AST, recurs: bool
) -> Value | None:
    """``left op right``, where ``right`` stands at ``node``, if that is not decided by what the two numbers are now. A
    ``left`` one that ``recurs`` is what a division leaves.
    """
    if isinstance(op, ast.Eq) and isinstance(left, Unknown):
        _may_meet(machine, state, node)
    elif isinstance(left, Unknown) and type(op) in COMPARISONS:
        _go_on(machine, state, left, node)
    if not isinstance(left, Const) or not isinstance(right, Const):
        return None
    one, two = raw_value(left), raw_value(right)
    if type(one) is not int or type(two) is not int:
        return None
    if isinstance(op, (ast.Eq, ast.NotEq)):
        meets = isinstance(left, InductionValue) and left.grows and _meets(machine, state, node, one, two, recurs)
        return Const(isinstance(op, ast.Eq)) if meets else None
    how = COMPARISONS.get(type(op))
    return None if how is None else _reached(machine, state, how, (left, one), (right, two), node)


def _go_on(machine: Machine, state: State, left: Unknown, node: ast.AST) -> None:
    """Run a loop once more after the iteration in which its counter is some large number and is compared at ``node``:
    what that guards comes by more than once. What the end of the loop is made of tells of its last iterations.
    """
    lap = _extended(machine, state)
    variables = state.get(state.frame, Frame).variables
    if lap is not None and isinstance(lap.loop, (ast.For, ast.AsyncFor)):
        if _names(lap.loop.iter).isdisjoint(_names(node)) and left in map(variables.get, _names(lap.loop.target)):
            waiting = machine.unit.loop_extensions[lap.run]
            waiting.iterations = max(waiting.iterations, waiting.first.setdefault(node, lap.number) + 1)


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in walk(node) if isinstance(part, ast.Name)}


Counted = tuple[Const, int]
"""A number of the program, and what it is now."""


def _reached(
    machine: Machine, state: State, how: Callable[[Any, Any], Any], left: Counted, right: Counted, node: ast.AST
) -> Value | None:
    """The same for a comparison that tells ``how`` two numbers are ordered."""
    grows, begun = left if left[1] <= right[1] else right
    then = how(float("inf"), right[1]) if grows is left[0] else how(left[1], float("inf"))
    if isinstance(grows, InductionValue) and not grows.grows or then is how(left[1], right[1]):
        return None
    if isinstance(grows, InductionValue) and grows.begun:
        return Unknown("comparison", False)
    return _far(machine, state, node, begun, max(left[1], right[1]), then)


def _far(machine: Machine, state: State, node: ast.AST, begun: int, end: int, then: bool) -> Value | None:
    """What a comparison is ``then``, once a number that has grown since it was first compared at ``node`` is assumed to
    be at ``end``; before that the loop runs on until it would be there.
    """
    lap = _extended(machine, state)
    if lap is None or isinstance(lap.loop, ast.While) and node in walk(lap.loop.test):
        return None  # the loop is left after some iterations in any case
    waiting = machine.unit.loop_extensions[lap.run]
    first = waiting.first.setdefault(node, begun)
    if begun <= first and not (0 < waiting.reached_in < lap.number and len(waiting.first) == 1):
        return None
    waiting.iterations = max(waiting.iterations, end + BOUNDS.late_iterations)
    if not waiting.late or end + BOUNDS.late_iterations <= machine.limits.max_unroll:
        return None
    waiting.reached_in = waiting.reached_in or lap.number
    return Const(then)


def _extended(machine: Machine, state: State) -> Iteration | None:
    """The iteration of the innermost loop that may be run longer than planned."""
    return next((lap for lap in reversed(state.iterations) if lap.run in machine.unit.loop_extensions), None)


def _meets(machine: Machine, state: State, node: ast.AST, number: int, other: int, recurs: bool) -> bool:
    """Whether what the program counts is assumed to be at the ``other`` number, with which it is compared at ``node``:
    it has come nearer from one iteration to the next, and has not been there in those that were followed, or was set
    back since.
    """
    lap = _extended(machine, state)
    if lap is None:
        return False
    waiting = machine.unit.loop_extensions[lap.run]
    last = _seen(waiting, lap.number, node, number, other, recurs)
    if last.nears:
        waiting.iterations = max(waiting.iterations, machine.limits.max_unroll + 1)
    if not waiting.late or not last.nears:
        return False
    begun, met, then = waiting.met = waiting.met or (lap.number, other, number)
    if (begun, met) == (lap.number, other):
        return True
    is_alone = all(each.is_met or each.other == other for each in waiting.passing.values())
    # In the next iteration it is not there again.
    return is_alone and lap.number > begun + 1 and (recurs or number < then)


def _seen(waiting: LoopExtension, lap: int, node: ast.AST, number: int, other: int, recurs: bool) -> _Passing:
    """What is known of a number that is compared again."""
    last = waiting.passing.setdefault(node, _Passing(lap, number, other))
    if number == other:
        last = waiting.passing[node] = replace(last, lap=lap, is_met=True)
    if last.is_met and (recurs or (number - other) * (last.number - other) <= 0):
        return _Passing(lap, number, other)
    if last.lap != lap:
        nears = number != last.number if recurs else abs(other - number) < abs(other - last.number)
        last = waiting.passing[node] = _Passing(lap, number, other, last.nears or last.is_met or nears)
    return last


def _may_meet(machine: Machine, state: State, node: ast.AST) -> None:
    """On one of two paths what was compared at ``node`` in an iteration before is there: how far it is now is not known
    any more.
    """
    lap = _extended(machine, state)
    waiting = machine.unit.loop_extensions[lap.run] if lap is not None else None
    if waiting is not None and (last := waiting.passing.get(node)) is not None:
        waiting.passing[node] = replace(last, is_met=True)


def assume_started(machine: Machine, state: State, whole: HeapRef) -> None:
    """What the methods of an object, and of those that it leads to, count up was counted by calls that no code has
    seen.
    """
    for part, made in list(parts_of(state, whole)):
        kinds = (state.heap[kind.id] for kind in mro_of(state, made.kind) if isinstance(kind, HeapRef))
        counted = {name for kind in kinds if isinstance(kind, Class) for name in machine.query(_counts, kind.node)}
        for name in sorted(counted.intersection(made.attributes)):
            number = raw_value(value) if isinstance(value := made.attributes[name], Const) else None
            if type(number) is int:
                begun = InductionValue(number, machine.observations, grows=True, begun=True)
                state.edit_attributes(part.id)[name] = begun


@cached_on_node
def _counts(definition: ast.AST) -> frozenset[str]:
    """The attributes that the methods of a class add to: ``self.steps += 1``, ``self.size = min(self.size + 1, 9)``."""
    found = set[str]()
    for node in walk(definition):
        match node:
            case ast.AugAssign(ast.Attribute(attr=name), ast.Add()):
                found.add(name)
            case ast.Assign([ast.Attribute(attr=name)], value):
                sums = [part for part in walk(value) if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add)]
                if any(getattr(side, "attr", "") == name for part in sums for side in (part.left, part.right)):
                    found.add(name)
    return frozenset(found)
