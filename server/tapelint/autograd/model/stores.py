"""Where tensors were kept: ``h = cell(x, h)``, ``outs.append(y)``, ``self.state = (h, c)``."""

from __future__ import annotations

import ast

from ..frozen import frozen
from .graph import Node
from .program_point import Iteration, ProgramPoint


@frozen
class Stored:
    """A tensor was kept: ``value`` is the expression stored, ``target`` what it was stored in (``h``, ``self.h``,
    ``outs``).

    ``statement`` is the syntax that stored it. ``how``: ``assigned``, ``held`` (in a tuple or container that was
    assigned), ``appended``, or ``iterated`` (bound by a loop, which keeps nothing).
    """

    point: ProgramPoint
    target: str
    value: ast.expr | None
    statement: ast.AST
    how: str


@frozen
class LastStore:
    """The last tensor that a statement in a loop stored."""

    tensor: int
    stored: Stored


@frozen
class RetainedGraphs:
    """What a loop had collected when it ended: the graph of several of its iterations, held by one variable or
    container. ``lap`` is the last iteration that stored, ``alive`` are the nodes that still hold saved tensors.
    """

    tensor: int
    stored: Stored
    lap: Iteration
    alive: tuple[Node, ...]
