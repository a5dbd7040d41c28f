"""Methods that are only there to be defined by derived classes.

def loss(self, batch):
    raise NotImplementedError
"""

from __future__ import annotations

from ..domain.state import State
from ..domain.values import BoundMethod, Function, HeapRef, Instance, Value
from .machine import Machine
from .syntax.syntactic_summary import is_abstract


def is_left_to_others(machine: Machine, state: State, owner: Value, method: Value) -> bool:
    """Whether a method is only there to be defined by derived classes, and the object is one of those. One that the
    program has made is of its class, and the method raises NotImplementedError as it says.
    """
    function = method.function if isinstance(method, BoundMethod) else method
    if not isinstance(function, Function) or not machine.query(is_abstract, function.node):
        return False
    if not isinstance(owner, HeapRef) or not isinstance(state.heap[owner.id], Instance):
        return True
    return owner.id in machine.facts.objects.imagined or bool(getattr(function.node, "decorator_list", ()))
