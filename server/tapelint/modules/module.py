"""What is asked of an imported module."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ..domain.state import State
from ..domain.values import Const, Frame, HeapRef, Sequence, Tuple, Value
from ..engine.module_system import LoadedModule


def public(state: State, module: LoadedModule) -> dict[str, Value]:
    """What ``from module import *`` binds of the names that the module defines itself."""
    variables = state.get(module.frame, Frame).variables
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


def independent(modules: Mapping[str, LoadedModule], files: Collection[str]) -> dict[str, LoadedModule]:
    """Those of some modules, by path, that are the same whichever file is analysed: they have ended, nothing was left
    out for lack of budget, and neither they nor what they import has read that file or is one of ``files``.
    """
    kept = {
        path: module
        for path, module in modules.items()
        if path not in files and module.world is not None and module.step.import_lookups.holds_for_any_file
    }
    while gone := [path for path, module in kept.items() if not all(need in kept for need in _imported(module))]:
        for path in gone:
            del kept[path]
    return kept


def _imported(module: LoadedModule) -> Iterator[str]:
    """The paths of the modules that a module has met."""
    yield from (need.path for need in module.needs)
    yield from (what for what in module.step.import_lookups.notes if isinstance(what, str))


def dotted(path: str) -> str:
    """What ``__name__`` may be: anything but ``__main__``."""
    parts = path.replace("\\", "/").removesuffix(".py").removesuffix("/__init__").split("/")
    return parts[-1] if parts[-1] != "__main__" else "main"
