"""One imported module: its scope, what its top level made, and what it left to be followed later."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..autograd import Facts
from ..domain.state import State
from ..domain.values import Const, HeapRef, Sequence, Tuple, Value
from ..engine.analysis_unit import AnalysisUnit
from ..source import Source
from ..stubs import stub_module_name

INIT = "__init__.py"


@dataclass(eq=False)
class LoadedModule:
    """One module: its scope is the heap object ``frame``; the rest is what a path needs that meets it.

    ``names`` are imports not followed yet: by name the module and what of it, ``stars`` the paths of modules all of
    whose names are here too. ``world`` is the state its top level ended in, or, while it imports another module, the
    state it has reached; ``own`` are the heap objects made there, ``needs`` the modules it used, perhaps in a circle,
    ``changed`` what it did to objects of theirs.
    """

    source: Source
    frame: int
    names: dict[str, tuple[str, str]] = field(default_factory=dict)
    stars: list[tuple[str, str]] = field(default_factory=list)
    world: State | None = None
    own: dict[int, Any] = field(default_factory=dict)
    needs: dict[LoadedModule, None] = field(default_factory=dict)
    changed: list[tuple[int, Any, Any]] = field(default_factory=list)
    step: AnalysisUnit = field(default_factory=lambda: AnalysisUnit(Facts(), {}, 0))

    def claim(self, world: State, owners: dict[int, LoadedModule]) -> None:
        """Keep the heap objects of ``world`` that no other module has made, and note that they are this one's."""
        for key, thing in world.heap.items():
            if owners.setdefault(key, self) is self:
                self.own[key] = thing

    def give(self, state: State) -> None:
        """Put what the module has made on a path that has met what it needs."""
        world = self.world
        assert world is not None
        state.heap.update(self.own)
        for key, tensor in world.tensors.items():
            if key not in state.tensors:
                state.tensors[key] = tensor
                if key in world.grads:
                    state.grads[key] = world.grads[key]
        for key, write in world.writes.items():
            state.writes.setdefault(key, write)
        for node, freed in world.freed.items():
            state.freed.setdefault(node, freed)
        for key, before, after in self.changed:
            if state.heap.get(key) is before:
                state.heap[key] = after.copy() if key in state.owned else after
        state.changes += 1

    @property
    def path(self) -> str:
        return self.source.path

    @property
    def is_told(self) -> bool:
        return stub_module_name(self.path) is not None

    @property
    def is_package(self) -> bool:
        return self.path.replace("\\", "/").endswith("/" + INIT) or self.path == INIT


def public(state: State, module: LoadedModule) -> dict[str, Value]:
    """What ``from module import *`` binds of the names that the module defines itself."""
    variables = state.heap[module.frame].variables
    listed = variables.get("__all__")
    items = listed.items if isinstance(listed, Tuple) else ()
    if isinstance(listed, HeapRef) and isinstance(thing := state.heap[listed.id], Sequence) and not thing.is_partial:
        items = tuple(thing.items)
    names = {item.value for item in items if isinstance(item, Const)}
    return {name: value for name, value in variables.items() if (name in names if names else not name.startswith("_"))}


def lacking(state: State, module: LoadedModule) -> list[LoadedModule]:
    """The modules that a path lacks to use ``module``, each after those it needs; of a circle the one asked for last.

    A module that cannot be given, because its top level never ran to an end, is left out.
    """
    found: list[LoadedModule] = []
    seen = {module}
    waiting = [(module, iter(tuple(module.needs)))]
    while waiting:
        top, needs = waiting[-1]
        for need in needs:
            if need not in seen and need.world is not None and need.frame not in state.heap:
                seen.add(need)
                waiting.append((need, iter(tuple(need.needs))))
                break
        else:
            waiting.pop()
            found.append(top)
    return found


def dotted(path: str) -> str:
    """What ``__name__`` may be: anything but ``__main__``."""
    parts = path.replace("\\", "/").removesuffix(".py").removesuffix("/__init__").split("/")
    return parts[-1] if parts[-1] != "__main__" else "main"
