"""The modules of the workspace, as the machine sees them. ``modules.loader.Imports`` executes them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ..autograd import Facts
from ..domain.state import State
from ..domain.values import Class, Frame, HeapObject, HeapRef, Module, Value
from ..source import INIT, Source
from ..stubs import Resolve, stub_module_name
from .analysis_unit import AnalysisUnit
from .import_lookups import Found, Lookups


@dataclass(eq=False)
class LoadedModule:
    """A module of the workspace: its scope, what its top level made, and the imports that are still to be followed."""

    source: Source
    # The heap id of its scope.
    frame: int
    # Imports that were not followed yet, by name: the module, and which name of it ("" for the module itself).
    names: dict[str, tuple[str, str]] = field(default_factory=dict)
    # Star imports that were not followed yet: the module, and the path of the file that imports it.
    stars: list[tuple[str, str]] = field(default_factory=list)
    # The state in which its top level ended; while it imports another module, the state that it has reached.
    world: State | None = None
    # The heap objects that its top level made.
    own: dict[int, HeapObject] = field(default_factory=dict)
    # The modules that it used, perhaps in a circle.
    needs: dict[LoadedModule, None] = field(default_factory=dict)
    # What it did to heap objects of those: the object, before and after.
    changed: list[tuple[int, HeapObject, HeapObject]] = field(default_factory=list)
    # The file that was analysed when it was executed.
    main: ast.Module | None = None
    # The unit that executed its top level.
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
    def is_stub(self) -> bool:
        """Whether it is a program of tapelint's own, which says how a framework behaves."""
        return stub_module_name(self.path) is not None

    @property
    def is_package(self) -> bool:
        return self.path.replace("\\", "/").endswith("/" + INIT) or self.path == INIT


class ModuleSystem(Protocol):
    """What the machine, and the code that it executes, may ask of imports. Every import of an analysed file goes
    through it; where a machine has none, each is an unknown library.
    """

    # What imports mean.
    lookups: Lookups
    # Whether the code of installed libraries is executed where it is short enough.
    follows_libraries: bool
    # Whether the units note all that they looked up: if not, none of them is reused after an edit.
    is_whole: bool

    @property
    def main(self) -> Source:
        """The file that is analysed."""

    def is_main(self, module: LoadedModule) -> bool:
        """Whether a module is the file that is analysed."""

    @property
    def sources(self) -> Iterator[Source]:
        """The files that were parsed."""

    @property
    def paths(self) -> dict[str, str]:
        """The files that were read, with their texts."""

    def resume(self, main: Source, resolve: Resolve) -> None:
        """Go on with another text of the analysed file."""

    @property
    def modules(self) -> Mapping[str, LoadedModule]:
        """The modules that were executed, by path."""

    @property
    def unfollowed(self) -> Mapping[tuple[str, str], Value]:
        """What stands for a name of a module that was not executed, by path and name."""

    def take_over(self, other: ModuleSystem) -> None:
        """Begin with the modules that the analysis of another file has executed."""

    def has_made(self, key: int) -> bool:
        """Whether a heap object was made by the top level of a module."""

    def adopt(self, frame: int) -> None:
        """``frame`` is the scope of the analysed file."""

    def repeat(self, step: AnalysisUnit) -> bool:
        """Whether a unit that was made for an older text would look up the same now."""

    def here(self, state: State) -> LoadedModule:
        """The module whose code is running."""

    def of_scope(self, frame: int) -> LoadedModule | None:
        """The module with this scope."""

    def is_idle(self, state: State, frame: int, given: list[Value]) -> bool:
        """Whether code matters only for what it decides: nothing of autograd comes of it or is given to it."""

    def is_lazy(self, state: State) -> bool:
        """Whether an import statement run now need only be noted: it stands at the top level of an imported module."""

    def find(self, name: str, importer: str) -> Found | None:
        """The path and text of a module, as long as the budget lasts."""

    def load(self, state: State, path: str, text: str) -> LoadedModule | None:
        """The module at ``path``, its top level run; None if it cannot be read or is too much."""

    def graft(self, state: State, module: LoadedModule) -> bool:
        """Give a path what a module made, unless it has it; False if nothing is known of that."""

    def module(self, state: State, name: str, importer: str) -> Value | None:
        """The module ``name`` as a value; None if it is none of the workspace."""

    def member(self, state: State, name: str, importer: str, attribute: str) -> Value | None:
        """What ``from name import attribute`` binds; None if the module is none of the workspace."""

    def missing(self, state: State, name: str) -> Value | None:
        """A name that the running module has not bound but has imported without following it."""

    def attribute(self, state: State, module: LoadedModule, name: str) -> Value | None:
        """``module.name``; ``state`` has the module. None where it has no such name."""

    def own_classes(self, state: State, owner: Module) -> dict[str, Value] | None:
        """The public classes that a module defines, by name; None if there may be more that can be called."""

    def defines(self, state: State, owner: Module, name: str) -> bool | None:
        """Whether a module has a name; None where that is not known."""

    def load_attribute(self, state: State, owner: Module, name: str) -> Value:
        """``owner.name`` in an expression."""

    def store_attribute(self, state: State, owner: Module, name: str, value: Value) -> None:
        """``owner.name = value``: every function of that module sees it."""


def is_in_stub(imports: ModuleSystem | None, state: State) -> bool:
    """Whether the running code says how a framework behaves: its users neither see that code nor choose there."""
    return imports is not None and imports.here(state).is_stub


def is_of_stub(imports: ModuleSystem | None, state: State, kind: HeapRef) -> bool:
    """Whether a class is one of those that stand for a library's."""
    found = state.heap[kind.id]
    if imports is None or not isinstance(found, Class) or not isinstance(scope := state.heap.get(found.scope), Frame):
        return False
    module = imports.of_scope(scope.module)
    return module is not None and module.is_stub
