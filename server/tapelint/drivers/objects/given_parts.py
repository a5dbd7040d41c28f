"""What a method could not run without: an attribute that keeps a parameter of ``__init__`` whose default is None.

    def __init__(self, net, memory: Memory | None = None): self.net, self.memory = net, memory
    def update(self):
        x = self.memory.sample()        without a test: `update` raises unless `memory` is given
        self.net(x).sum().backward()

An object is made with the defaults of its class, so that nothing below such a use would run. The path supposes that the
parameter is given.
"""

from __future__ import annotations

import ast

from ...domain.mro import mro_of
from ...domain.parameter_defaults import defaults_of
from ...domain.state import State
from ...domain.values import NONE, Class, Function, HeapRef, Instance, Value
from ...engine.machine import Machine
from ...engine.syntax.own_attributes import own_attribute, own_name
from ...source import cached_on_node, walk
from ..attribute_flow import MethodFlow, ObjectFlow
from ..inferred_arguments import as_given
from .constructor_switches import kept


def give_parts(
    machine: Machine, state: State, receiver: HeapRef, flow: ObjectFlow, reached: dict[str, MethodFlow]
) -> None:
    """Give an object what methods that go backward use as if it were there."""
    if not any(each.backward for each in reached.values()):
        return
    attributes, kind = state.get(receiver.id, Instance).attributes, state.get(receiver.id, Instance).kind
    for attribute in sorted(_needed(machine, flow, reached)):
        maker, parameter = (
            _keeper(machine, state, kind, attribute) if attributes.get(attribute) == NONE else (None, None)
        )
        if maker is not None and parameter is not None:
            value = as_given(machine, state, maker, parameter, kind if isinstance(kind, HeapRef) else None)
            state.edit_attributes(receiver.id)[attribute] = value
            state.premise = state.premise or f"`{parameter.arg}` is given"


def _needed(machine: Machine, flow: ObjectFlow, reached: dict[str, MethodFlow]) -> set[str]:
    """The attributes that methods use, ask for in no test, and that no method but ``__init__`` assigns."""
    nodes = [flow.methods[name].node for name in reached if name in flow.methods]
    used = {attribute for node in nodes for attribute in machine.query(used_attributes, node)}
    known = {attribute for each in reached.values() for attribute in each.tested | each.stored}
    later = {attribute for name, each in flow.flows.items() if name != "__init__" for attribute in each.assigned}
    return used - known - later


def _keeper(
    machine: Machine, state: State, kind: Value, attribute: str
) -> tuple[Function, ast.arg] | tuple[None, None]:
    """The ``__init__`` that keeps a parameter whose default is None as an attribute, and that parameter."""
    for owner in mro_of(state, kind):
        thing = state.heap.get(owner.id) if isinstance(owner, HeapRef) else None
        maker = thing.attributes.get("__init__") if isinstance(thing, Class) else None
        if isinstance(maker, Function):
            parameter = machine.query(kept, maker.node).get(attribute)
            if parameter is not None and defaults_of(maker).get(parameter.arg) == NONE:
                return maker, parameter
    return None, None


@cached_on_node
def used_attributes(method: ast.AST) -> frozenset[str]:
    """The attributes of the object that a method uses as what None is not: asked for something, called, indexed."""
    own, found = own_name(method), set[str]()
    for node in walk(method):
        match node:
            case ast.Attribute(inner) | ast.Subscript(inner) | ast.Call(inner) | ast.For(_, inner):
                if (name := own_attribute(inner, own)) is not None:
                    found.add(name)
    return frozenset(found)
