"""One imported module: its scope, what its top level made, and what it left to be followed later."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..source import Source
from ..tape import State, Tape
from .steps import Step
from .told import told_name

INIT = "__init__.py"


@dataclass(eq=False)
class Loaded:
    """One module: its scope is the heap object ``frame``; the rest is what a path needs that meets it.

    ``names`` are imports not followed yet: by name the module and what of it, ``stars`` the paths of modules all of
    whose names are here too. ``world`` is the state its top level ended in, ``own`` the heap objects made there,
    ``needs`` the modules it used, ``changed`` what it did to objects of theirs.
    """

    source: Source
    frame: int
    names: dict[str, tuple[str, str]] = field(default_factory=dict)
    stars: list[tuple[str, str]] = field(default_factory=list)
    world: State | None = None
    own: dict[int, Any] = field(default_factory=dict)
    needs: dict[Loaded, None] = field(default_factory=dict)
    changed: list[tuple[int, Any, Any]] = field(default_factory=list)
    step: Step = field(default_factory=lambda: Step(Tape(), {}, 0))

    @property
    def path(self) -> str:
        return self.source.path

    @property
    def is_told(self) -> bool:
        return told_name(self.path) is not None

    @property
    def is_package(self) -> bool:
        return self.path.replace("\\", "/").endswith("/" + INIT) or self.path == INIT


def dotted(path: str) -> str:
    """What ``__name__`` may be: anything but ``__main__``."""
    parts = path.replace("\\", "/").removesuffix(".py").removesuffix("/__init__").split("/")
    return parts[-1] if parts[-1] != "__main__" else "main"
