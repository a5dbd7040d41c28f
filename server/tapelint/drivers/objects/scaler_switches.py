"""Mixed precision that is off by default: an attribute holds a ``GradScaler`` if a parameter of ``__init__`` says so.

    def __init__(self, net, use_amp=False):
        self.scaler = GradScaler() if use_amp else None
    def step(self, x):
        if self.scaler is not None: ...         either; the way into the body supposes that `use_amp` is True

An object is made with the defaults of its class, so that nothing of what the scaler does would run. A second path has
one, if the other tests above it hold by default.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ...domain.parameter_defaults import defaults_of
from ...domain.state import State
from ...domain.values import FALSE, NONE, TRUE, Const, External, HeapRef, Instance, Value
from ...engine.machine import Machine
from ...engine.paths.switches import LATER
from ...engine.syntax.own_attributes import own_attribute, own_name
from ...frozen import frozen
from ...source import cached_on_node
from ..annotations import named
from ..attribute_flow import ObjectFlow
from .constructor_switches import kept

Condition = tuple[ast.expr, bool]
"""A test, and whether it holds where something is done."""


@frozen
class Made:
    """Where ``__init__`` makes what an attribute holds, and the tests that decide about it."""

    attribute: str
    call: ast.Call
    conditions: tuple[Condition, ...]


def turn_on_scaler(machine: Machine, state: State, receiver: HeapRef, flow: ObjectFlow, name: str) -> None:
    """Go on both ways with an object whose scaler is off by default, which the method ``name`` reads."""
    maker = flow.methods.get("__init__")
    if maker is None or state.premise is not None:
        return
    read = {attribute for method in flow.reached(name).values() for attribute in method.read}
    for made in machine.query(_scalers, maker.node):
        if made.attribute not in read or state.get(receiver.id, Instance).attributes.get(made.attribute) != NONE:
            continue
        premise = _premise(made, defaults_of(maker), {key: each.arg for key, each in kept(maker.node).items()})
        kind = named(machine, state, maker.frame, made.call.func)
        if premise is None or not isinstance(kind, External) or kind.name not in LATER:
            continue
        if _is_on(machine, state, made.call) == TRUE:
            state.premise = premise
            state.edit_attributes(receiver.id)[made.attribute] = machine.call(state, kind, [], {}, made.call)
        return


def _is_on(machine: Machine, state: State, node: ast.AST) -> Value:
    def split(key: object) -> Value:
        other = state.fork()
        machine.memo.fork(other, key, TRUE)
        return FALSE

    return machine.memoize(node, "scaler", split)


def _premise(made: Made, defaults: dict[str, Value], keeping: dict[str, str]) -> str | None:
    """What is supposed where all tests go the way that leads there; None unless exactly one of them goes another way by
    default, and that one asks for a switch itself.
    """
    other = [test for test, holds in made.conditions if _by_default(test, defaults, keeping) is not holds]
    if len(other) != 1:
        return None
    test = other[0]
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test = test.operand
    name = _parameter(test.left if isinstance(test, ast.Compare) else test, keeping)
    default = defaults.get(name) if name is not None else None
    if name is None or not isinstance(default, Const):
        return None
    return f"`{name}` is {not default.value}" if isinstance(default.value, bool) else f"`{name}` is given"


def _by_default(test: ast.expr, defaults: dict[str, Value], keeping: dict[str, str]) -> bool | None:
    """The truth of a test on a parameter, or on an attribute that keeps one, that is left at its default."""
    match test:
        case ast.UnaryOp(ast.Not(), inner):
            known = _by_default(inner, defaults, keeping)
            return None if known is None else not known
        case ast.Compare(left, [ast.Is() | ast.IsNot() as how], [ast.Constant(None)]):
            default = defaults.get(_parameter(left, keeping) or "")
            return None if not isinstance(default, Const) else (default == NONE) is isinstance(how, ast.Is)
    default = defaults.get(_parameter(test, keeping) or "")
    return bool(default.value) if isinstance(default, Const) else None


def _parameter(node: ast.expr, keeping: dict[str, str]) -> str | None:
    """The parameter that a name, or an attribute of the object, stands for."""
    if isinstance(node, ast.Name):
        return node.id
    is_attribute = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    return keeping.get(node.attr) if is_attribute and isinstance(node, ast.Attribute) else None


@cached_on_node
def _scalers(maker: ast.AST) -> tuple[Made, ...]:
    own, body = own_name(maker), getattr(maker, "body", None)
    return tuple(_made(body, own, ())) if own is not None and isinstance(body, list) else ()


def _made(body: Iterable[ast.stmt], own: str, conditions: tuple[Condition, ...]) -> Iterator[Made]:
    """What is made below tests, each a ``GradScaler`` by the last part of its name."""
    for statement in body:
        if isinstance(statement, ast.If):
            yield from _made(statement.body, own, (*conditions, (statement.test, True)))
            yield from _made(statement.orelse, own, (*conditions, (statement.test, False)))
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            value, above = statement.value, conditions
            if isinstance(value, ast.IfExp):
                above = (*conditions, (value.test, True))
                value = value.body
            if above and isinstance(value, ast.Call) and ast.unparse(value.func).endswith("GradScaler"):
                for attribute in filter(None, (own_attribute(target, own) for target in targets)):
                    yield Made(attribute, value, above)
