"""Switches of ``__init__`` that decide about a write: the attribute that keeps one is an option with its default.

    def __init__(self, clip=None): self.clip = clip
    def forward(self, x):
        ...
        if self.clip:                                either; the way into the body supposes that `clip` is given
            h.data.clamp_(-self.clip, self.clip)

An object is made with the defaults of its class, so that nothing below such a test would run. Only what stands directly
above a write in place is opened: any other attribute is what the default makes of it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace

from ...domain.options import Option, optional
from ...domain.parameter_defaults import defaults_of
from ...domain.state import State
from ...domain.values import NONE, Const, HeapRef, Instance, Unknown, Value
from ...engine.machine import Machine
from ...engine.syntax.own_attributes import own_attribute, own_name
from ...source import cached_on_node, walk
from ..annotations import plain_origin
from ..attribute_flow import MethodFlow, ObjectFlow
from ..in_place_sites import may_write
from ..inferred_arguments import is_switch


def open_switches(machine: Machine, state: State, receiver: HeapRef, flow: ObjectFlow, name: str) -> None:
    """Make an option of each attribute that keeps a switch, and decides about a write of the method ``name`` or of
    one that it calls on its object.
    """
    maker, reached = flow.methods.get("__init__"), flow.reached(name)
    deciding = {each for method in reached for each in machine.query(_above_writes, flow.methods[method].node)}
    if maker is None or not deciding:
        return
    keeping, defaults = machine.query(kept, maker.node), defaults_of(maker)
    for attribute in sorted(deciding & keeping.keys()):
        default = defaults.get(keeping[attribute].arg)
        current = state.get(receiver.id, Instance).attributes.get(attribute)
        if isinstance(default, Const) and is_switch(default) and current == default:
            if not _assigned_elsewhere(flow, attribute) and (value := _option(keeping[attribute], default)) is not None:
                state.edit_attributes(receiver.id)[attribute] = value


def _option(parameter: ast.arg, default: Const) -> Value | None:
    """What a switch may be; None where it may be more than data, and is annotated so."""
    name = parameter.arg
    if default != NONE:
        other = not default.value
        return optional(Option(default, f"`{name}` is {other}", (Const(other),)), name)
    option = Option(default, f"`{name}` is given")
    if parameter.annotation is None:
        return Unknown(name, None, formula=option)
    origin = plain_origin(parameter.annotation)
    return None if origin is None else replace(optional(option, name), origin=origin)


def _assigned_elsewhere(flow: ObjectFlow, attribute: str) -> bool:
    flows: Iterator[MethodFlow] = (each for name, each in flow.flows.items() if name != "__init__")
    return any(attribute in each.assigned for each in flows)


@cached_on_node
def kept(maker: ast.AST) -> dict[str, ast.arg]:
    """The attributes that only keep a parameter: ``self.clip = clip``, and nothing else."""
    arguments = getattr(maker, "args", None)
    if not isinstance(arguments, ast.arguments):
        return {}
    own, *rest = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs] or [ast.arg("")]
    parameters = {each.arg: each for each in rest}
    found: dict[str, list[ast.arg | None]] = {}
    for node in walk(maker):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            parameters.pop(node.id, None)
    for node in walk(maker):
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        source = parameters.get(value.id) if isinstance(value, ast.Name) else None
        for target in _targets(node):
            if (name := own_attribute(target, own.arg)) is not None:
                found.setdefault(name, []).append(source)
    return {name: each[0] for name, each in found.items() if len(each) == 1 and each[0] is not None}


def _targets(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.Assign(targets):
            return [part for target in targets for part in walk(target) if isinstance(part, ast.expr)]
        case ast.AnnAssign(target) | ast.AugAssign(target):
            return [target]
    return []


@cached_on_node
def _above_writes(method: ast.AST) -> frozenset[str]:
    """The attributes of which a test asks that has a write in place among the statements that it decides about."""
    return asked_above(method, _writes)


def asked_above(method: ast.AST, does: Callable[[ast.stmt], bool]) -> frozenset[str]:
    """The attributes of which a test asks that decides about a statement which ``does`` something."""
    own, found = own_name(method), set[str]()
    for node in walk(method):
        if isinstance(node, ast.If):
            asked = {name for part in walk(node.test) if (name := own_attribute(part, own)) is not None}
            if asked and any(map(does, (*node.body, *node.orelse))):
                found |= asked
    return frozenset(found)


def _writes(statement: ast.stmt) -> bool:
    """Whether a statement, or one in the ``with`` that it is, writes in place."""
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return any(map(_writes, statement.body))
    return isinstance(statement, (ast.Expr, ast.Assign, ast.AugAssign)) and may_write(statement)
