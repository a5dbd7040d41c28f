"""Objects that are made the other way: with the opposite of a switch that decides what ``__init__`` makes.

    def __init__(self, size, both=False):
        self.both = both
        self.cell = Cell(size)
        if both: self.reverse = Cell(size)
    def forward(self, x, state):
        if self.both:
            for i in range(2): state[i] = self.reverse(x, state[i])

What such a switch makes would be missing if only the attribute that keeps it were another one
(``constructor_switches``). So the object is made again, for methods in which a test of the attribute stands above a
write in place.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...domain.mro import lookup_in_mro, mro_of
from ...domain.parameter_defaults import defaults_of
from ...domain.state import State
from ...domain.values import Class, Const, Function, HeapRef
from ...engine.machine import Machine
from ...source import cached_on_node, walk
from ..attribute_flow import object_flow
from ..in_place_sites import may_write
from ..inferred_arguments import make_instance
from .constructor_switches import asked_above, kept

MAX_SWITCHED = 2
"""Objects that are made beside the usual one, for one method."""


def switched_objects(
    machine: Machine, state: State, owner: HeapRef, function: Function
) -> Iterator[tuple[State, HeapRef]]:
    """Objects of a class on which a switch is not left at its default, each on a path of its own, which supposes that.
    What ``__init__`` does wrongly is not reported: it is another matter than the method.
    """
    node = state.get(owner.id, Class).node
    for name, default in switches_over_writes(machine, state, owner, function)[:MAX_SWITCHED]:
        other = state.fork()
        other.premise = other.premise or f"`{name}` is {not default}"
        with machine.facts.events.heard_by():
            made = make_instance(machine, other, owner, node, {name: Const(not default)})
        yield other, made


def switches_over_writes(machine: Machine, state: State, owner: HeapRef, function: Function) -> list[tuple[str, bool]]:
    """The parameters of ``__init__`` with a truth value for a default that decide what it makes, and, as attributes,
    about writes of a method or of one that it calls on its object.
    """
    found, name = lookup_in_mro(state, owner, "__init__"), getattr(function.node, "name", "")
    if function.kind != "" or found is None or not isinstance(found[1], Function):
        return []
    flow, defaults = object_flow(machine, state, owner), defaults_of(found[1])
    makers = [each.node for each in _makers(state, owner)]
    keeping = {attribute: each.arg for maker in makers for attribute, each in machine.query(kept, maker).items()}
    decided = {each for method in flow.reached(name) for each in machine.query(_over_writes, flow.methods[method].node)}
    made_by = {each for maker in makers for each in machine.query(_asked, maker)}
    switches = dict[str, bool]()
    for attribute in sorted(decided & keeping.keys()):
        default = defaults.get(keeping[attribute])
        if isinstance(default, Const) and isinstance(default.value, bool):
            if not made_by.isdisjoint((attribute, keeping[attribute])):
                switches[keeping[attribute]] = default.value
    return [*switches.items()]


def _makers(state: State, owner: HeapRef) -> Iterator[Function]:
    """The ``__init__`` of a class and of its bases."""
    for kind in mro_of(state, owner):
        own = state.get(kind.id, Class).attributes.get("__init__") if isinstance(kind, HeapRef) else None
        if isinstance(own, Function):
            yield own


@cached_on_node
def _asked(maker: ast.AST) -> frozenset[str]:
    """The names and attributes that a test in a method asks for."""
    tests = (node.test for node in walk(maker) if isinstance(node, (ast.If, ast.IfExp)))
    parts = [part for test in tests for part in walk(test)]
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    return frozenset(names | {part.attr for part in parts if isinstance(part, ast.Attribute)})


@cached_on_node
def _over_writes(method: ast.AST) -> frozenset[str]:
    """The attributes of which a test asks that has a write in place somewhere below it."""
    return asked_above(method, may_write)
