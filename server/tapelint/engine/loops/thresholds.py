"""Thresholds: bounds that a growing number or container is compared with.

    memory.append(transition)
    self.steps += 1
    if len(memory) < 64 or self.steps < 1000:     # not yet, in all iterations that are followed
        return

A number that is compared with one it has not reached, and that has grown since it was compared there before, is
assumed to reach it. Where that is near, the loop runs as many iterations more. Where it is far, two iterations stand
for what is so much later: in these the number is there. How often methods without a caller were called is not known,
nor then what they have counted.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...bounds import BOUNDS
from ...domain.induction import InductionValue, raw_value
from ...domain.mro import mro_of
from ...domain.state import State
from ...domain.values import Class, Const, HeapRef, Instance, Unknown, Value
from ...source import cached_on_node, walk
from ..limits import Limits
from ..machine import Machine

COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


@dataclass(slots=True)
class LoopExtension:
    """One run of a loop that compares growing numbers with thresholds."""

    # How many iterations it takes to reach all of them.
    iterations: int = 0
    # Whether it is in the iterations that stand for all beyond `Limits.max_unroll`.
    is_late: bool = False
    # The number that each comparison saw first.
    first: dict[ast.AST, int] = field(default_factory=dict)

    def more(self, number: int, limits: Limits) -> int:
        """How many iterations are to follow the one of that number, which was to be the last."""
        if self.iterations <= limits.max_unroll:
            return max(self.iterations - number, 0)
        if self.is_late:
            return 0
        self.is_late = True
        return BOUNDS.late_iterations


def assume_reached(
    machine: Machine, state: State, op: ast.cmpop, left: Value, right: Value, node: ast.AST
) -> Value | None:
    """``left op right``, where ``right`` stands at ``node``, if that is not decided by what the two numbers are now."""
    how = COMPARISONS.get(type(op))
    if how is None or not isinstance(left, Const) or not isinstance(right, Const):
        return None
    one, two = raw_value(left), raw_value(right)
    if type(one) is not int or type(two) is not int:
        return None
    grows, begun = (left, one) if one <= two else (right, two)
    then = how(float("inf"), two) if grows is left else how(one, float("inf"))
    if isinstance(grows, InductionValue) and not grows.grows or then is how(one, two):
        return None
    if isinstance(grows, InductionValue) and grows.begun:
        return Unknown("comparison", False)
    return _far(machine, state, node, begun, max(one, two), then)


def _far(machine: Machine, state: State, node: ast.AST, begun: int, end: int, then: bool) -> Value | None:
    """What a comparison is ``then``, once a number that has grown since it was first compared at ``node`` is assumed to
    be at ``end``; before that the loop runs on until it would be there.
    """
    run = next((lap.run for lap in reversed(state.iterations) if lap.run in machine.unit.loop_extensions), None)
    if run is None:
        return None
    waiting = machine.unit.loop_extensions[run]
    if begun <= waiting.first.setdefault(node, begun):
        return None
    waiting.iterations = max(waiting.iterations, end + BOUNDS.late_iterations)
    return Const(then) if waiting.is_late and end + BOUNDS.late_iterations > machine.limits.max_unroll else None


def assume_started(machine: Machine, state: State, owner: HeapRef, instance: HeapRef) -> None:
    """What the methods of an object count up was counted by calls that no code has seen."""
    attributes = state.get(instance.id, Instance).attributes
    for kind in mro_of(state, owner):
        if isinstance(kind, HeapRef) and isinstance(thing := state.heap[kind.id], Class):
            for name in machine.query(_counts, thing.node).intersection(attributes):
                value = attributes[name]
                if isinstance(value, Const) and type(raw_value(value)) is int:
                    counted = InductionValue(raw_value(value), machine.observations, grows=True, begun=True)
                    state.edit(instance.id, Instance).attributes[name] = counted


@cached_on_node
def _counts(definition: ast.AST) -> frozenset[str]:
    """The attributes that the methods of a class add to: ``self.steps += 1``."""
    return frozenset(
        node.target.attr
        for node in walk(definition)
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and isinstance(node.target, ast.Attribute)
    )
