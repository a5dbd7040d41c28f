"""Classes and functions that a configuration names: ``"nets.Net"``, ``"nets.Net.small"``, ``"torch.optim.SGD"``."""

from __future__ import annotations

import ast

from ...domain.state import State
from ...domain.values import External, Value
from ...engine.machine import Machine


def named(machine: Machine, state: State, dotted: str, node: ast.AST) -> Value:
    """A class or function of the project, a member of such a class, or what a library has under that name."""
    module, _, name = dotted.rpartition(".")
    imports = machine.imports
    if imports is None or not module:
        return External(dotted)
    own = imports.member(state, module, imports.main.path, name)
    outer, _, kind = module.rpartition(".")
    if own is None and outer:
        owner = imports.member(state, outer, imports.main.path, kind)
        own = None if owner is None else machine.load_attribute(state, owner, name, node)
    return External(dotted) if own is None else own
