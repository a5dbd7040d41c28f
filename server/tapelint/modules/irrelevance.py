"""Imported code that cannot matter: it knows nothing of PyTorch and is given nothing that PyTorch knows.

from settings import read_arguments     settings.py never mentions torch, and imports nothing that does
args = read_arguments("train.toml")     so it need not run: it makes no graph. What it returns is unknown, for others
                                        may have given it what has one
"""

from __future__ import annotations

from collections.abc import Callable

from ..domain.state import State
from ..domain.values import (
    Class,
    Const,
    External,
    Frame,
    Function,
    HeapRef,
    Instance,
    Mapping,
    Module,
    Sequence,
    Tuple,
    Unknown,
    Value,
)
from ..source import imported, may_use_torch


class TorchFreeModules:
    """Which modules are far from PyTorch: neither they nor anything they import from the workspace mentions it, and
    they import nothing by a name that is made up while they run.
    """

    def __init__(self, find: Callable[[str, str], tuple[str, str] | None]) -> None:
        self._find = find
        self._known: dict[str, bool] = {}

    def holds(self, path: str, text: str) -> bool:
        if path not in self._known:
            self._known[path] = not may_use_torch(text) and "import_module" not in text
            if self._known[path]:
                found = (self._find(name, path) for name in imported(text))
                self._known[path] = all(self.holds(*module) for module in found if module is not None)
        return self._known[path]


def is_plain(state: State, value: Value, depth: int = 3) -> bool:
    """Whether a value is plain data for certain: numbers, text, what is unknown, containers and objects of such."""
    if isinstance(value, (Const, Unknown, External, Module)):
        return True
    if depth and isinstance(value, Tuple):
        return all(is_plain(state, item, depth - 1) for item in value.items)
    if depth and isinstance(value, HeapRef):
        thing = state.heap[value.id]
        if isinstance(thing, Sequence):
            return all(is_plain(state, item, depth - 1) for item in thing.items)
        if isinstance(thing, (Mapping, Instance)):
            inside = thing.items if isinstance(thing, Mapping) else thing.attributes
            return all(is_plain(state, item, depth - 1) for item in inside.values())
    return False


def keeps_code(state: State, frame: int) -> bool:
    """Whether a module has a dict that others have filled with classes or functions: a registry."""
    held = (
        state.heap.get(value.id) for value in state.get(frame, Frame).variables.values() if isinstance(value, HeapRef)
    )
    return any(
        isinstance(item, Function) or isinstance(item, HeapRef) and isinstance(state.heap.get(item.id), Class)
        for thing in held
        if isinstance(thing, Mapping)
        for item in thing.items.values()
    )
