"""A node of a picture in the making."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from ..autograd import Iteration, ProgramPoint
from .model import Kind


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
