"""Where tensors were kept: ``h = cell(x, h)``, ``outs.append(y)``, ``self.state = (h, c)``."""

from __future__ import annotations

import ast
from dataclasses import replace
from enum import Enum, auto

from ...frozen import frozen
from .choices import PathGuard
from .graph import Node
from .program_point import Iteration, ProgramPoint


class StoreKind(Enum):
    """How a tensor was kept."""

    ASSIGNED = auto()
    # In a tuple or container that was assigned.
    HELD = auto()
    APPENDED = auto()
    # Bound by a loop, which keeps nothing.
    ITERATED = auto()


@frozen
class Stored:
    """A tensor was kept."""

    point: ProgramPoint
    # What it was stored in: ``h``, ``self.h``, ``outs``.
    target: str
    # The expression that was stored.
    value: ast.expr | None
    # The syntax that stored it.
    statement: ast.AST
    how: StoreKind

    @property
    def collects(self) -> bool:
        """Whether it went into a container, beside others: ``outs.append(y)``, ``outs[i] = y``, ``outs += [y]``."""
        targets = self.statement.targets if isinstance(self.statement, ast.Assign) else ()
        if any(isinstance(target, ast.Subscript) for target in targets):
            return True
        grown = StoreKind.HELD if isinstance(self.statement, ast.AugAssign) else StoreKind.APPENDED
        return self.how is grown


@frozen
class LastStore:
    """The last tensor that a statement in a loop stored."""

    tensor: int
    stored: Stored


@frozen
class RetainedGraphs:
    """What a loop had collected when it ended, or a function that is called again and again: the graph of several
    iterations, held by one variable or container. ``lap`` is the last iteration that stored, ``alive`` are the nodes
    that still hold saved tensors.
    """

    tensor: int
    stored: Stored
    lap: Iteration
    alive: tuple[Node, ...]
    # All nodes that are held of the last iteration.
    added: tuple[Node, ...] = ()
    # How many tensors these keep that are no leaves.
    saved: int = 0
    # The functions that empty the holder between calls.
    until: tuple[str, ...] = ()
    # What else holds parts of the same graph, by the names that the program has for it.
    others: tuple[str, ...] = ()
    # Whether a loop that is known to be short has collected it in a local variable, which is gone with its function.
    is_brief: bool = False
    # Whether the loop runs a network in evaluation mode, and does nothing to gradients.
    evaluates: bool = False

    def under(self, guard: PathGuard) -> RetainedGraphs:
        """The same where ``guard`` led to it."""
        stored = self.stored
        return replace(self, stored=replace(stored, point=replace(stored.point, guard=guard)))


@frozen
class EvaluationGraph:
    """What a network has recorded in an iteration of a loop that evaluates."""

    point: ProgramPoint
    # The nodes that made its results; none where its code is not known.
    graphs: tuple[Node, ...]
    # What the program calls the network.
    network: str
    # Whether it is a network by assumption.
    assumed: bool
    # Whether `eval()` was called on it; otherwise the script is known to train nothing.
    in_evaluation: bool = True
    # Whether unknown code was given what it has recorded.
    escaped: bool = False
