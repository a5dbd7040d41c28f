"""What happens to gradients in a training step, published to the rules: clipped, used by a step, looked for without
success.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar, Literal

from ..gradients.history import Clearing, Group, Idle, Pass
from ..model.cuts import Cut
from ..model.program_point import ProgramPoint
from .graph_walks import Event


@dataclass(frozen=True, slots=True)
class OptimizerStepped(Event):
    """An optimizer, written ``optimizer`` in the program, used the gradients of the leaves it holds.

    ``past`` is what they were just before, ``held`` are all of its leaves, ``scaler`` is the scaler that made the step.
    ``lost`` are the passes since its last step that were cleared before any code used anything of them; ``leaked``
    those another optimizer's step had used already, for leaves it reached through these. ``premises`` are the assumed
    conditions on which it depends what is cleared and stepped.
    """

    raises: ClassVar[bool] = False

    optimizer: ast.expr | None
    held: tuple[int, ...]
    past: tuple[Group, ...]
    lost: tuple[tuple[Clearing, Pass], ...]
    leaked: tuple[tuple[Pass, ProgramPoint], ...]
    scaler: ast.expr | None
    premises: frozenset[Hashable]


@dataclass(frozen=True, slots=True)
class GradientsClipped(Event):
    """Gradients were scaled down. ``past`` is what they were just before; ``limit`` what they were clipped to, if
    known.
    """

    raises: ClassVar[bool] = False

    past: tuple[Group, ...]
    limit: float | None
    premises: frozenset[Hashable]


@dataclass(frozen=True, slots=True)
class StepMissed(Event):
    """A backward gave leaves their first gradient, after a ``step`` that had looked for one."""

    raises: ClassVar[bool] = False

    step: Idle
    leaves: tuple[int, ...]
    premises: frozenset[Hashable]


@dataclass(frozen=True, slots=True)
class EvaluationRecorded(Event):
    """In a ``loop`` that has ended, a network in evaluation mode recorded a graph of so many ``nodes`` in every
    iteration; no backward walked it, and it is no longer held.
    """

    raises: ClassVar[bool] = False

    loop: ast.AST
    nodes: int


@dataclass(frozen=True, slots=True)
class NeverReached(Event):
    """An optimizer has stepped in several iterations, and no backward has ever reached these ``leaves`` that it holds.

    ``cut`` is where the graph that leads to them was cut. Without one they are all that the optimizer holds, and there
    have been backward passes.
    """

    raises: ClassVar[bool] = False

    optimizer: ast.expr | None
    leaves: tuple[int, ...]
    cut: Cut | None


@dataclass(frozen=True, slots=True)
class NeverStepped(Event):
    """Backward passes reach ``leaves``, parameters of a network, and no optimizer holds them, though ``optimizer``
    holds all the others that the network had when it was ``built``.

    ``why`` is ``hidden`` where they are in a plain container, ``plain`` where a tensor is no Parameter, and ``later``
    where they were made after the optimizer. ``attribute`` is the target of the assignment that keeps them, ``value``
    what was assigned there, ``wrapper`` the name in ``torch.nn`` of what would have registered them.
    """

    raises: ClassVar[bool] = False

    optimizer: ast.expr | None
    built: ast.AST | None
    leaves: tuple[int, ...]
    why: Literal["hidden", "plain", "later"]
    attribute: ast.expr | None
    value: ast.AST
    wrapper: str | None


@dataclass(frozen=True, slots=True)
class UpdateDropped(Event):
    """A new value was computed from a ``leaf`` and its gradient, and bound to a loop's variable that no code reads
    before the loop binds it again: the leaf stays what it was. ``point`` is the statement's.
    """

    raises: ClassVar[bool] = False

    leaf: int
    name: str
    loop: ast.AST
