"""``torch.autograd.functional``: whole derivatives of a function.

    J = jacobian(f, x)                          # f runs on an alias of x that requires grad; J is data
    J = jacobian(f, x, create_graph=True)       # J has a graph of its own

Each call builds its graphs and frees nothing that was there before.
"""

from __future__ import annotations

from ....domain.state import State
from ....domain.values import Unknown, Value
from ....engine.machine import Machine
from ..registry import Call, function


@function(*(f"torch.autograd.functional.{name}" for name in ("jacobian", "hessian", "vjp", "jvp", "hvp", "vhp")))
def derivative(machine: Machine, state: State, call: Call) -> Value:
    """Data, one tensor or several in the shape of inputs and outputs, unless it is asked for a graph."""
    place = 2 if call.name.endswith(("jacobian", "hessian")) else 3
    return Unknown("derivative", False if call.flag(place, "create_graph", False) is False else None)
