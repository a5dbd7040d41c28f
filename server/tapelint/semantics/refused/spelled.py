"""How many arguments a call has where it spreads a container: so many as that holds for certain, or it is not known.

pair = (x, y);       f(*pair)                          two
kept = [];           f(*kept)                          unknown: it is there to be filled
def g(*args): ...    f(*args), where g(x) was called   one
"""

from __future__ import annotations

import ast

from ...domain.state import State
from ...domain.values import HeapRef, Mapping, Sequence, Tuple, Value
from ...engine.machine import Machine
from ...engine.open_objects import is_complete, is_whole
from ...frozen import frozen
from ...source import cached_on_node, walk


@frozen
class Given:
    """How many positional arguments a call has, and the names of the others."""

    count: int
    names: frozenset[str]


def items_spread(machine: Machine, state: State, value: Value) -> int | None:
    """How many items ``*value`` spreads; None if that is not known."""
    if isinstance(value, Tuple):
        return len(value.items) if value.is_spelled else None
    thing = state.heap[value.id] if isinstance(value, HeapRef) else None
    if not isinstance(value, HeapRef) or not isinstance(thing, Sequence) or thing.kind != "list" or thing.is_partial:
        return None
    return len(thing.items) if is_complete(machine, state, value.id, not thing.items) else None


def names_spread(machine: Machine, state: State, value: Value, node: ast.expr) -> frozenset[str] | None:
    """The names under which ``**value`` gives arguments; None if they are not known."""
    thing = state.heap[value.id] if isinstance(value, HeapRef) else None
    if not isinstance(value, HeapRef) or not isinstance(thing, Mapping) or thing.kind != "dict":
        return None
    if thing.default is not None or thing.owner is not None or not thing.has_known_keys:
        return None
    names = frozenset(name for name in thing.items if isinstance(name, str))
    if len(names) < len(thing.items):
        return None
    is_known = (
        is_whole(machine, state, value.id)
        if not names and _is_handed_on(machine, node)
        else is_complete(machine, state, value.id, not names)
    )
    return names if is_known else None


def _is_handed_on(machine: Machine, node: ast.expr) -> bool:
    """Whether a node is the ``**options`` of the running function, of which that does nothing but to hand it on."""
    running = machine.context.call_stack[-1][0] if machine.context.call_stack else None
    if not isinstance(node, ast.Name) or not isinstance(running, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    spec = running.args.kwarg
    return spec is not None and spec.arg == node.id and machine.query(_only_hands_on, running)


@cached_on_node
def _only_hands_on(definition: ast.AST) -> bool:
    """Whether the ``**options`` of a function stand nowhere but in calls, as ``**options``."""
    assert isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)), "only definitions are asked about"
    spec = definition.args.kwarg
    nodes = [node for statement in definition.body for node in walk(statement)]
    handed = {id(node.value) for node in nodes if isinstance(node, ast.keyword) and node.arg is None}
    return all(
        id(node) in handed for node in nodes if isinstance(node, ast.Name) and spec is not None and node.id == spec.arg
    )
