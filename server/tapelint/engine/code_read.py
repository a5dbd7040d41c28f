"""What the code of all files that were read may bind, on any path: what it never binds is not there."""

from __future__ import annotations

from .machine import Machine
from .syntax.bound_names import any_names, binds


def may_bind(machine: Machine, name: str) -> bool:
    """Whether some code may bind a variable or an attribute ``name``."""
    return machine.query(binds, name, *machine.trees)


def may_bind_any(machine: Machine) -> bool:
    """Whether some code gives objects attributes by names that it does not spell."""
    return machine.query(any_names, *machine.trees)
