"""``import`` and ``from ... import``: modules of the workspace are followed, all others are known by their names.

import torch.nn as nn        External("torch.nn")
from helpers import step     the function `step` of helpers.py, where there is a helpers.py
"""

from __future__ import annotations

import abc
import ast
import collections
import contextlib
import copy
import dataclasses
import enum
import functools
import itertools
import math
import operator
import typing
from types import ModuleType

from ..domain.state import State
from ..domain.values import External, Frame
from ..engine.import_lookups import Found
from ..engine.machine import STATEMENTS, Machine
from ..engine.module_system import LoadedModule, ModuleSystem
from ..modules.module import public


def importing(machine: Machine, node: ast.Import, state: State) -> list[State]:
    for alias in node.names:
        head = alias.name.partition(".")[0]
        name = alias.asname or head
        target = alias.name if alias.asname else head
        if machine.imports is None or not _noted(machine.imports, state, name, target, ""):
            value = machine.imports.module(state, target, machine.imports.here(state).path) if machine.imports else None
            machine.bind(state, name, value if value is not None else External(target))
    return [state]


def importing_from(machine: Machine, node: ast.ImportFrom, state: State) -> list[State]:
    module = "." * node.level + (node.module or "")
    for alias in node.names:
        if alias.name == "*":
            _star(machine, state, module)
            continue
        name = alias.asname or alias.name
        if machine.imports is None or not _noted(machine.imports, state, name, module, alias.name):
            imports = machine.imports
            value = imports.member(state, module, imports.here(state).path, alias.name) if imports else None
            machine.bind(state, name, value if value is not None else External(f"{module}.{alias.name}"))
    return [state]


def _noted(imports: ModuleSystem, state: State, name: str, module: str, attribute: str) -> bool:
    """Whether an import is put off until its name is used."""
    if not imports.is_lazy(state):
        return False
    here = imports.here(state)
    if _found(imports, here, module) is None:
        return False
    here.names[name] = (module, attribute)
    state.edit(here.frame, Frame).variables.pop(name, None)
    return True


def _found(imports: ModuleSystem, here: LoadedModule, module: str) -> Found | None:
    """What an import means. A package of a library imports many modules of which few are used: their text counts
    when it is executed.
    """
    if imports.lookups.is_library(here.path):
        return imports.lookups.meaning(module, here.path)
    return imports.find(module, here.path)


def _star(machine: Machine, state: State, module: str) -> None:
    """What a module defines is bound; what it has imported itself is looked up when it is used."""
    imports = machine.imports
    here = imports.here(state) if imports else None
    found = _found(imports, here, module) if imports and here else None
    if imports is None or here is None or found is None:
        for name in STARS.get(module) or _public_names(module):
            machine.bind(state, name, External(f"{module}.{name}"))
        return
    if imports.is_main(here):
        imports.is_whole = False  # which names it binds is not written down by steps
    if (module, here.path) not in here.stars:
        here.stars.append((module, here.path))
    if not imports.is_lazy(state):
        loaded = imports.load(state, *found)
        if loaded is not None and imports.graft(state, loaded):
            for name, value in public(state, loaded).items():
                machine.bind(state, name, value)


@functools.lru_cache(4096)
def _public_names(module: str) -> tuple[str, ...]:
    """What a star import of one of Python's own modules brings."""
    found = PYTHON.get(module)
    if found is None:
        return ()
    listed: list[str] = getattr(found, "__all__", None) or [name for name in vars(found) if not name.startswith("_")]
    return tuple(listed)


PYTHON: dict[str, ModuleType] = {
    module.__name__: module
    for module in (abc, collections, contextlib, copy, dataclasses, enum, functools, itertools, math, operator, typing)
}
"""Modules of Python whose functions have a meaning here (``models/python``)."""
STARS = {
    "torch": ("nn", "optim", "Tensor", "no_grad", "tensor", "zeros", "ones", "randn", "rand", "cat", "stack"),
    "torch.nn": ("Module", "Linear", "Parameter", "ModuleList", "Sequential", "functional", "ReLU", "Conv2d"),
    "torch.autograd": ("Variable", "grad", "Function"),
}
"""What a star import brings; without running the module only names worth knowing are listed."""

STATEMENTS.update({ast.Import: importing, ast.ImportFrom: importing_from})
