"""Where the fixtures of a test are defined: in its class, in its file, and in files that it does not import.

tests/conftest.py                           those of every test in this folder and below it
    pytest_plugins = ["tests.nets"]         and those of the modules that it names
tests/unit/test_net.py
    @pytest.fixture(name="net")             called `net`, whatever the function is called
    def make_net(): ...
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator

from ...domain.mro import lookup_in_mro, mro_of
from ...domain.state import State
from ...domain.values import TRUE, BoundMethod, Class, Const, Frame, Function, HeapRef, Sequence, Tuple, Value
from ...engine.machine import Machine
from ...engine.module_system import ModuleSystem
from ...frozen import frozen
from ...source import walk
from .marks import evaluated, fixture_of

MAX_CONFTESTS = 5
"""Folders upward that are searched for a conftest.py."""
PLUGINS = "pytest_plugins"
AUTOUSE = "autouse"
MODES = frozenset(("no_grad", "enable_grad", "inference_mode", "set_grad_enabled"))


@frozen
class Places:
    """The class and the files whose fixtures a test may ask for."""

    machine: Machine
    # The heap id of the scope of the file with the test.
    module: int
    # The object that a method runs on, and its class.
    receiver: HeapRef | None = None
    owner: HeapRef | None = None

    def find(self, state: State, name: str) -> Function | BoundMethod | None:
        """The fixture called ``name``."""
        return next(self._all(state, name), None)

    def above(self, state: State, name: str, fixture: Function | BoundMethod) -> Function | BoundMethod | None:
        """The fixture called ``name`` that this one overrides, which is further out."""
        found = self._all(state, name)
        node = function_of(fixture).node
        if not any(function_of(each).node is node for each in found):
            return None
        return next((each for each in found if function_of(each).node is not node), None)

    def _all(self, state: State, name: str) -> Iterator[Function | BoundMethod]:
        """The fixtures called ``name``, the nearest first."""
        if self.owner is not None and self.receiver is not None:
            held = lookup_in_mro(state, self.owner, name)
            if held is not None and isinstance(held[1], Function) and self._name_of(state, held[1]) == name:
                yield BoundMethod(held[1], self.receiver)
        for file in (self.module, *self._elsewhere(state)):
            bound = self._bound(state, file, name)
            if bound is not None and self._name_of(state, bound) == name:
                yield bound
            for function in _with("name", self._held(state, file)):
                if self._name_of(state, function) == name:
                    yield function

    def automatic(self, state: State) -> list[str]:
        """The names of the fixtures that every test has, those of the outermost file first; of other files those that
        switch gradients on or off. The others there, which seed and clean up, would only multiply the paths of each
        test.
        """
        others = [*self._elsewhere(state)] if self._may_be_elsewhere() else []
        held: list[Value] = [
            function
            for file in reversed(others)
            for function in _with(AUTOUSE, self._held(state, file))
            if _switches(function)
        ]
        held += self._held(state, self.module)
        for kind in reversed(mro_of(state, self.owner)) if self.owner is not None else ():
            if isinstance(kind, HeapRef) and isinstance(thing := state.heap[kind.id], Class):
                held += thing.attributes.values()
        names = [
            self._name_of(state, function) for function in _with(AUTOUSE, held) if self._is_automatic(state, function)
        ]
        return list(dict.fromkeys(name for name in names if name is not None))

    def _is_automatic(self, state: State, function: Function) -> bool:
        return self._option(state, function, AUTOUSE) == TRUE

    def _name_of(self, state: State, function: Function) -> str | None:
        """What a fixture is called; None if it is none."""
        if isinstance(function.node, ast.Lambda) or fixture_of(self.machine, state, function) is None:
            return None
        chosen = self._option(state, function, "name")
        return str(chosen.value) if isinstance(chosen, Const) and chosen.value is not None else function.node.name

    def _option(self, state: State, function: Function, name: str) -> Value | None:
        mark = fixture_of(self.machine, state, function)
        written = mark.keyword(name) if mark is not None else None
        scope = state.get(function.frame, Frame).module
        return evaluated(self.machine, state, scope, written) if written is not None else None

    def _held(self, state: State, file: int) -> list[Value]:
        return [*state.get(file, Frame).variables.values()]

    def _bound(self, state: State, file: int, name: str) -> Function | None:
        """The function that a file calls ``name``, be it imported."""
        found = state.get(file, Frame).variables.get(name)
        if found is None and self.machine.imports is not None:
            frame, state.frame = state.frame, file
            found = self.machine.imports.missing(state, name)
            state.frame = frame
        return found if isinstance(found, Function) else None

    def _may_be_elsewhere(self) -> bool:
        """Whether another file may have fixtures that are not asked for, as its text says."""
        if (imports := self.machine.imports) is None:
            return False
        found = (imports.lookups.meaning(name, imports.main.path) for name in self._conftests(imports.main.path))
        others = [each[1] for each in found if each is not None]
        return any(PLUGINS in text for text in (imports.main.text, *others)) or any(
            AUTOUSE in text and any(mode in text for mode in MODES) for text in others
        )

    def _elsewhere(self, state: State) -> Iterator[int]:
        """The scopes of the other files that have fixtures for it, the nearest first."""
        if (imports := self.machine.imports) is None:
            return
        seen = {self.module}
        yield from self._plugins(state, imports, self.module, seen)
        for name in self._conftests(imports.main.path):
            yield from self._with_plugins(state, imports, name, seen)

    def _with_plugins(self, state: State, imports: ModuleSystem, name: str, seen: set[int]) -> Iterator[int]:
        """The scope of a module, and of those that it names as plugins."""
        found = imports.find(name, imports.main.path)
        loaded = imports.load(state, *found) if found is not None else None
        if loaded is not None and imports.graft(state, loaded) and loaded.frame not in seen:
            seen.add(loaded.frame)
            yield loaded.frame
            yield from self._plugins(state, imports, loaded.frame, seen)

    def _plugins(self, state: State, imports: ModuleSystem, file: int, seen: set[int]) -> Iterator[int]:
        named = state.get(file, Frame).variables.get(PLUGINS)
        for name in _texts(state, named) if named is not None else ():
            yield from self._with_plugins(state, imports, name, seen)

    def _conftests(self, path: str) -> Iterator[str]:
        """The conftest.py in the folder of a file and above it, as the file would import them."""
        folder = os.path.dirname(os.path.abspath(path))
        for level in range(1, MAX_CONFTESTS + 1):
            yield "." * level + "conftest"
            if folder == self.machine.tests.root:
                return
            folder = os.path.dirname(folder)


def function_of(fixture: Function | BoundMethod) -> Function:
    """The function that makes a fixture."""
    function = fixture.function if isinstance(fixture, BoundMethod) else fixture
    assert isinstance(function, Function)
    return function


def _with(option: str, values: Iterable[Value]) -> Iterator[Function]:
    """The functions that have a decorator with an option of that name."""
    for value in values:
        if isinstance(value, Function) and not isinstance(value.node, ast.Lambda):
            calls = (each for each in value.node.decorator_list if isinstance(each, ast.Call))
            if any(keyword.arg == option for call in calls for keyword in call.keywords):
                yield value


def _switches(function: Function) -> bool:
    """Whether the text of a function switches gradients on or off."""
    names = (getattr(node, "attr", getattr(node, "id", "")) for node in walk(function.node))
    return not MODES.isdisjoint(names)


def _texts(state: State, value: Value) -> list[str]:
    """The texts in a tuple or a list, or the text that it is."""
    thing = state.heap[value.id] if isinstance(value, HeapRef) else value
    items = [*thing.items] if isinstance(thing, (Tuple, Sequence)) else [value]
    return [item.value for item in items if isinstance(item, Const) and isinstance(item.value, str)]
