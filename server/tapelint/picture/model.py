"""The picture of a graph as plain data: what the formats print and what an editor draws."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Literal

from ..autograd import Iteration, ProgramPoint
from ..frozen import frozen

Kind = Literal[
    "leaf",
    "operation",
    "tensor",
    "saved",
    "write",
    "step",
    "pass",
    "cut",
    "folded",
    "grad",
    "clear",
    "clip",
    "holder",
    "moment",
]
"""What a node stands for: a leaf, a node of the graph (``grad_fn``), a tensor without either, a tensor that was saved,
an in-place write, the step of an optimizer, a backward pass, the place where a graph ends, what is left out, a
``.grad``, the clearing of gradients, their clipping, what keeps a graph, something else that a
finding tells of.
"""
MOMENTS: frozenset[Kind] = frozenset({"write", "step", "pass", "cut", "clear", "clip", "moment"})
"""The kinds of nodes that happen at a moment; the others are there from then on."""
Relation = Literal[
    "input",
    "saves",
    "writes",
    "steps",
    "walks",
    "frees",
    "needs",
    "fills",
    "uses",
    "clears",
    "clips",
    "holds",
    "gives",
    "then",
]


@frozen
class Extent:
    """How much of each thing is drawn: with more a picture is not read any more."""

    # Iterations of an expression, a column each.
    iterations: int = 3
    # Nodes and leaves of the graph; the others are folded into so many boxes by what has computed them.
    operations: int = 26
    leaves: int = 10
    folded: int = 4
    # Nodes of the way from a root to a hazard, half of them at either end.
    way: int = 16
    # Saved tensors that were written since, writes, and backward passes.
    saved: int = 6
    writes: int = 8
    passes: int = 6
    # Groups of parameters whose gradients have a past of their own, and clearings of each.
    groups: int = 4
    clearings: int = 3
    # Tensors of what a step of a story uses, and of what it gives; expressions of a block.
    tensors: int = 3
    # Boxes of one rank side by side, and letters of a row in a box.
    abreast: int = 3
    letters: int = 46


DRAWN = Extent()
SOON = 0.25
"""What happens after something, and is not numbered itself, comes so much later in the order of time."""


@frozen
class Spot:
    """A place in a file; ``row`` and ``column`` count from 1, ``column`` in characters."""

    path: str
    row: int
    column: int


@frozen
class PictureNode:
    """One box. ``number`` counts from 1 in reading order; ``column`` is an index into ``Picture.columns``."""

    number: int
    kind: Kind
    title: str
    details: tuple[str, ...]
    column: int
    spot: Spot | None
    # Whether it is part of the hazard.
    is_marked: bool = False
    # False where it may not be there: it rests on something unknown.
    is_certain: bool = True


@frozen
class PictureEdge:
    """An arrow between two nodes, by their numbers."""

    begin: int
    end: int
    relation: Relation
    is_marked: bool = False


@frozen
class Picture:
    """A graph across iterations, a column each. ``title`` says what it is about, ``notes`` what is left out."""

    title: str
    columns: tuple[str, ...]
    nodes: tuple[PictureNode, ...]
    edges: tuple[PictureEdge, ...]
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Draft:
    """A node before it has a number. ``stamp`` orders it in time; ``laps`` are the iterations that it is in."""

    kind: Kind
    title: str
    details: list[str]
    point: ProgramPoint | None
    stamp: float
    is_marked: bool = False
    is_certain: bool = True
    laps: tuple[Iteration, ...] = field(default=())
    # Whether a story has words for it, which are its title.
    is_told: bool = False

    def __post_init__(self) -> None:
        laps = self.point.iterations if self.point is not None else ()
        self.laps = tuple(lap for lap in laps if not isinstance(lap.loop, ast.comprehension))
