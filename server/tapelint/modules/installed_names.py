"""What a dotted name of an installed library is, where its source is there.

    from timm.utils import accuracy      External("timm.utils.accuracy") for all that asks which function it is
    accuracy(output, target)             no model of it: the function that timm/utils/metrics.py defines is executed

A module of a library is executed like one of the workspace, but never before something of it is called or derived from.
"""

from __future__ import annotations

from ..bounds import BOUNDS
from ..domain.mro import lookup_in_mro
from ..domain.state import State
from ..domain.values import Class, External, HeapRef, Unknown, Value
from ..engine.module_system import ModuleSystem
from ..stubs import INSTALLED


def installed(imports: ModuleSystem, state: State, name: str) -> Value | None:
    """The function or class with a dotted name, as its library defines it; None where its source is not there or
    not to be followed, or is more than the budget of imported text.
    """
    for _ in range(BOUNDS.installed_names):
        value = _defined(imports, state, name)
        if not isinstance(value, External):
            return value
        name = value.name
    return None


def _defined(imports: ModuleSystem, state: State, name: str) -> Value | None:
    parts, importer = name.split("."), imports.main.path
    for count in range(len(parts) - 1, 0, -1):
        module, wanted = INSTALLED + ".".join(parts[:count]), parts[count]
        if imports.lookups.meaning(module, importer) is None:
            continue
        value = _member(imports, state, module, wanted)
        if value is None or isinstance(value, Unknown):  # an export that the package computes, or a large package
            value = _member(imports, state, f"{module}:{wanted}", wanted)
        for attribute in parts[count + 1 :]:
            value = _of_class(state, value, attribute)
        return value
    return None


def _member(imports: ModuleSystem, state: State, module: str, name: str) -> Value | None:
    """What a module of a library has under a name."""
    found = imports.find(module, imports.main.path)
    loaded = imports.load(state, *found) if found is not None else None
    if loaded is None or not imports.graft(state, loaded):
        return None
    return imports.attribute(state, loaded, name)


def _of_class(state: State, owner: Value | None, attribute: str) -> Value | None:
    """What a class has under a name."""
    if not isinstance(owner, HeapRef) or not isinstance(state.heap[owner.id], Class):
        return None
    found = lookup_in_mro(state, owner, attribute)
    return found[1] if found is not None else None
